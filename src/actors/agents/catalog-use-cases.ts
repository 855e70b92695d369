import { projectScope } from '#storage/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import { rowTimes, timestampOf } from '../records/row-times.ts'
import type { Table } from '../records/table.ts'
import type { AgentVersions } from './agent-versions.ts'
import type { Catalogue, Offer } from './catalogue.ts'
import { type AgentData, type Visibility, visibilityOf } from './kinds.ts'
import { jsonObjectOf } from './schema.ts'

/** Dependencies of the catalogue's use-cases. */
export interface CatalogDeps {
  readonly catalogue: Catalogue
  readonly versions: AgentVersions
  readonly agents: Pick<Table<AgentData>, 'get'>
}

const isHidden = (agent: AgentData, wanted: Visibility = 'public'): boolean =>
  visibilityOf(agent) === 'private' && wanted !== 'private'

/** Lists the agents that can be installed, each with its newest published version (`agent_catalog.list`). */
export const agentCatalogUseCases = ({
  catalogue,
  versions,
  agents,
}: CatalogDeps): Pick<UseCases, 'agent_catalog.list'> => ({
  'agent_catalog.list': async ({ scope, query: { visibility, ...page } }) => {
    const { data, next_cursor } = await catalogue.list(scope, page, visibility ?? 'default')
    const entryOf = async (offer: Offer | null) => {
      const agent = offer && (await agents.get(projectScope(scope.project), offer.agentId))
      // a change of the agent's visibility reaches the catalogue a moment later
      if (offer === null || agent === null || isHidden(agent.data, visibility)) return []
      return [
        {
          id: offer.agentId,
          agent_id: offer.agentId,
          name: agent.data.name,
          description: agent.data.description,
          version: offer.version,
          agent_version_id: offer.version_id,
          visibility: offer.visibility,
          requirements: jsonObjectOf(await versions.requirementsOf(scope, offer.agentId, offer.version_id)),
          published_at: timestampOf(offer.published_at),
          ...rowTimes(agent),
        },
      ]
    }
    return { data: (await Promise.all(data.map(entryOf))).flat(), next_cursor }
  },
})
