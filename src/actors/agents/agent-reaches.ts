import type { Json } from '#specs/dsl/json.ts'
import { projectScope } from '#storage/index.ts'
import type { AgentReach } from '../call/reach.ts'
import type { Services } from '../capability/services.ts'
import { RecheckCache } from '../records/caches/recheck-cache.ts'
import { Table } from '../records/table.ts'
import { isObject } from '../runtime/index.ts'
import { agentInstallations, agents, type InstallationData, installationKeys } from './kinds.ts'

/** Maximum delay in ms until a change of an installation on another node applies to the agent's keys. */
const maxAgeMs = 1000
const pageSize = 500

/**
 * Returns what the keys of an agent reach; null for an agent that the project does not have, whose keys are invalid.
 * @throws {StoreUnavailable}
 */
export const agentReaches = ({
  records,
  now,
  credentialChanges: changes,
}: Pick<Services, 'records' | 'now' | 'credentialChanges'>) => {
  const table = new Table(records, agents, now)
  const installations = new Table(records, agentInstallations, now)
  const serving = new RecheckCache<true>({
    load: async (key) => {
      const [project = '', agent = '', ...rest] = key.split(' ')
      const { tenant_agent_status } = installationKeys(rest.join(' '), agent, 'active')
      const rows = await installations.list(projectScope(project), { where: { tenant_agent_status }, limit: 1 })
      // false is not kept, so that a new installation applies at once
      return rows.length > 0 || null
    },
    ...{ maxAgeMs, maxEntries: 50_000, now, changes },
  })
  const serves = (key: string): boolean | Promise<boolean> =>
    serving.peek(key) ?? serving.load(key).then((found) => found === true)
  return async (project: string, agentId: string): Promise<AgentReach | null> => {
    const agent = await table.get(projectScope(project), agentId)
    if (agent === null) return null
    const { config } = agent.data
    return {
      models: new Set([config.model, ...(config.models ?? [])]),
      toolServers: new Set([...(config.mcp_servers ?? []), ...(config.remote_agents ?? [])].map(serverId)),
      guardrails: config.guardrails ?? [],
      serves: (tenant) => serves(`${project} ${agentId} ${tenant}`),
      tenants: () => tenantsWith(installations, project, agentId),
    }
  }
}

/** The id in `mcp_…` or `{server_id, …}`, the forms in which a config names a server; '' in any other. */
const serverId = (declared: Json): string => {
  if (typeof declared === 'string') return declared
  return isObject(declared) && typeof declared.server_id === 'string' ? declared.server_id : ''
}

const tenantsWith = async (
  installations: Pick<Table<InstallationData>, 'list'>,
  project: string,
  agentId: string,
): Promise<readonly string[]> => {
  const found = new Set<string>()
  const where = { agent_status: installationKeys('', agentId, 'active').agent_status }
  for (let after: string | undefined; ; ) {
    const query = { where, limit: pageSize, ...(after !== undefined && { after }) }
    const rows = await installations.list(projectScope(project), query)
    for (const { tenant } of rows) if (tenant !== null) found.add(tenant)
    after = rows.at(-1)?.id
    if (rows.length < pageSize) return [...found]
  }
}
