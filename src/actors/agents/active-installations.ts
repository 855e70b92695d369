import { tenantScope } from '#storage/index.ts'
import type { ActiveInstallations } from '../accounts/credentials.ts'
import type { Services } from '../capability/services.ts'
import { RecheckCache } from '../records/caches/recheck-cache.ts'
import { Table } from '../records/table.ts'
import { agentInstallations } from './kinds.ts'

/** Maximum delay in ms until a change of an installation applies to tokens for it. */
const maxAgeMs = 1000

/** Returns the function that selects the active ones of a tenant's installations. */
export const activeInstallations = ({
  records,
  now,
  credentialChanges: changes,
}: Pick<Services, 'records' | 'now' | 'credentialChanges'>): ActiveInstallations => {
  const table = new Table(records, agentInstallations, now)
  const active = new RecheckCache<true>({
    load: async (key) => {
      const [project = '', tenant = '', id = ''] = JSON.parse(key)
      const row = await table.get(tenantScope(project, tenant), id)
      return row?.data.status === 'active' ? true : null
    },
    ...{ maxAgeMs, maxEntries: 50_000, now, changes },
  })
  return ({ project, tenant }, ids) => {
    const keys = ids.map((id) => JSON.stringify([project, tenant, id]))
    if (keys.every((key) => active.peek(key) === true)) return ids
    return Promise.all(keys.map((key) => active.peek(key) ?? active.load(key))).then((found) =>
      ids.filter((_, at) => found[at] === true),
    )
  }
}
