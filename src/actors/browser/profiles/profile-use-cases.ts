import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { Audited } from '#records/audited.ts'
import { pageOf } from '#records/pages.ts'
import { timestampOf } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BrowserProfileData } from '../kinds.ts'
import type { BrowserProfiles } from './browser-profiles.ts'

/** Use-cases that list and delete profiles. Only jobs create them. */
export const profileUseCases = ({ table }: Pick<BrowserProfiles, 'table'>): UseCasesOf<'browser_profiles'> => ({
  'browser_profiles.list': ({ scope, query }) =>
    pageOf(table, scope, { query, shown: { idPrefix: 'bpr', view: profileView } }),
  'browser_profiles.delete': async (call) => {
    const { scope, params } = call
    const removed = await table.remove(scope, params.profileId, new Audited(call, 'browser_profile').removed())
    if (!removed) throw new ServiceError('not_found')
    return { id: params.profileId, deleted: true }
  },
})

const profileView = ({ id, tenant, created_at, updated_at, data }: Row<BrowserProfileData>) => ({
  id,
  name: data.name,
  tenantId: tenant,
  cookies: data.cookies,
  createdAt: timestampOf(created_at),
  updatedAt: timestampOf(updated_at),
})
