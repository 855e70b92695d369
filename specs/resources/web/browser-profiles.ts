import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { cursorPage, cursorQuery } from '#specs/dsl/lists.ts'
import { boolean, described, id, integer, nullable, object, string, timestamp } from '#specs/dsl/schema.ts'

const path = '/v1/web/profiles'

const profile = object(
  {
    id: id('bpr'),
    name: string(),
    tenantId: described(nullable(string()), 'Tenant that the profile belongs to. Null if it belongs to the project.'),
    cookies: described(integer(), 'Number of cookies. Their values are stored encrypted and never shown.'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'BrowserProfile', description: 'Cookies and storage that a browser job has stored.' },
)

/** Browser profiles: cookies and storage of browser jobs. */
export const browserProfiles = defineOperations('browser_profiles', {
  list: {
    summary: 'List browser profiles',
    description: 'Newest first. Returns names and counts; cookies and stored values are never returned.',
    method: 'GET',
    path,
    access: secretKeyOrDashboard('member'),
    envelope: 'web',
    ofTenants: 'tenant',
    query: cursorQuery,
    answer: isJsonResponse(cursorPage(profile)),
  },
  delete: {
    summary: 'Delete a browser profile',
    description: 'The cookies and storage are deleted. A later job with the same profile name starts without them.',
    method: 'DELETE',
    path: `${path}/{profileId}`,
    access: secretKeyOrDashboard('admin'),
    envelope: 'web',
    ofTenants: 'tenant',
    answer: isJsonResponse(object({ id: id('bpr'), deleted: boolean() })),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly browserProfiles: typeof browserProfiles
  }
}
