import type { EstatePart } from './estate-part.ts'

/** The estate of web pages: a crawl of a site that does not exist, and a takedown request. */
export const web: EstatePart = {
  make: async ({ mark, made }) => ({
    crawl_id: await made('/v1/web/crawls', { seeds: [`https://${mark}.invalid/`] }),
    takedown_id: await made('/v1/web/takedown', {
      ...{ urls: [`https://${mark}.invalid/`], basis: 'privacy', requesterName: mark },
      ...{ requesterEmail: 'ada@example.com', statement: `This page is about ${mark}.` },
    }),
  }),
  bodies: {
    'web_crawls.create': ({ mark }, n) => ({ seeds: [`https://${mark}.invalid/${n}`] }),
  },
  atWork: ({ all }) => all('crawl_id').map((id) => `/v1/web/crawls/${id}`),
  changing: ['web_crawls.get', 'web_crawls.list'],
  beyondSchema: {
    'web.fetch': 'an address is one of a page that may be read, and is',
    'web.extract': 'likewise',
    'web.crawl': 'likewise',
    'web_crawls.create': 'likewise',
    'web.takedown': 'likewise',
    'web.search': 'a freshness is a time or a duration',
  },
}
