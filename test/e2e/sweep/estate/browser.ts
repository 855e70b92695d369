import type { EstatePart } from './estate-part.ts'

/** The estate of browser jobs: without a browser, a failed one. */
export const browser: EstatePart = {
  make: async ({ api, mark, made, id }) => {
    const owner = api.with({ 'x-tenant-id': id('tenant_id') })
    return { jobId: await made('/v1/web/browse', { url: `https://${mark}.invalid/` }, owner), index: '0' }
  },
  bodies: {
    'browser_jobs.create': ({ mark }, n) => ({ url: `https://${mark}.invalid/${n}` }),
  },
  // only jobs create profiles
  absent: { profileId: 'bpr' },
  chosen: ['index'],
  atWork: ({ all }) => all('jobId').map((id) => `/v1/web/browse/${id}`),
  beyondSchema: {
    'browser_jobs.continue': 'a job that waits for a person is continued, and no other',
    'browser_jobs.input': 'likewise',
    'browser_jobs.live': 'likewise',
    'browser_jobs.create': 'an address is one of a page that may be opened, and actions have what they need',
  },
}
