import { secretKeyOrDashboard } from '../access.ts'
import { defineResource } from '../resource.ts'
import { jsonObject, nullable, optional, string, timestamp } from '../schema.ts'
import { visibility } from './agent-versions.ts'

/**
 * Agents that can be installed, each with its newest published version; `public` and `unlisted` ones unless the query
 * names a visibility (interface "GET /v1/agent-catalog").
 */
export const agentCatalog = defineResource('agent_catalog', {
  path: '/v1/agent-catalog',
  key: 'agent_id',
  idPrefix: 'agt',
  title: 'AgentCatalogEntry',
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
  operations: { list: { summary: 'The catalogue of agents', query: { visibility: optional(visibility) } } },
})
