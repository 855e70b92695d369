import { secretKeyOrDashboard } from '../access.ts'
import { defineResource } from '../dsl/resource.ts'
import { jsonObject, nullable, optional, string, timestamp } from '../dsl/schema.ts'
import { visibility } from './agent-versions.ts'

/** Agents that can be installed, each with its latest published version. */
export const agentCatalog = defineResource('agent_catalog', {
  path: '/v1/agent-catalog',
  key: 'agent_id',
  idPrefix: 'agt',
  title: 'AgentCatalogEntry',
  description: 'An agent that can be installed, with its newest published version.',
  fields: {
    agent_id: string(),
    name: string(),
    description: nullable(string()),
    version: string(),
    agent_version_id: string(),
    visibility,
    requirements: jsonObject(),
    published_at: timestamp(),
  },
  writable: [],
  access: secretKeyOrDashboard('member'),
  operations: {
    list: {
      summary: 'List installable agents',
      description:
        'Returns each agent with its newest published version. Without `visibility`, public and unlisted agents are listed.',
      query: { visibility: optional(visibility) },
    },
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly agentCatalog: typeof agentCatalog
  }
}
