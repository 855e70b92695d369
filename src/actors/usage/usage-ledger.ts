import { tenantAgent, type UsageData, usagePrefix, usageRows } from '#gateway/ledger/usage-rows.ts'
import { derivedId } from '../runtime/index.ts'
import type { Ledger } from '../runtime/internal.ts'
import { meteredIn } from './schema.ts'

/**
 * Returns a usage row for each call in a commit with a metered event. The row's id is derived from the commit, so it is
 * written once.
 */
export const usageLedger: Ledger = (commit, { user }) => {
  const { actor, seq, at, project, tenant } = commit
  return meteredIn(commit).map((metered, n) => {
    const { agent_id } = metered
    const tenant_agent = tenant === null || agent_id === null ? null : tenantAgent(tenant, agent_id)
    const data: UsageData = { ...metered, external_user_id: user, tenant_agent }
    const times = { version: 1, created_at: at, updated_at: at, expires_at: null }
    const id = derivedId(usagePrefix, at, n === 0 ? `${actor}:${seq}` : `${actor}:${seq}:${n}`)
    return { kind: usageRows, record: { id, project, tenant, user, ...times, data } }
  })
}
