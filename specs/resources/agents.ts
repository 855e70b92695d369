import { secretKeyOrDashboard } from '../access.ts'
import { defineResource } from '../resource.ts'
import { boolean, integer, nullable, number, object, optional, string } from '../schema.ts'
import { tools } from '../tools.ts'

/** What an agent runs on. Open: versions add connectors, knowledge and more (interface-additions "Shapes"). */
const agentConfig = object(
  {
    model: string({ minLength: 1, maxLength: 256 }),
    system_prompt: optional(string()),
    instructions: optional(string()),
    tools: optional(tools),
    temperature: optional(number({ min: 0, max: 2 })),
    max_tokens: optional(integer({ min: 1 })),
    pause_on_tool_calls: optional(boolean()),
  },
  { title: 'AgentConfig', open: true },
)

/** Gateway agents (interface "Agent platform"). */
export const agents = defineResource('agents', {
  path: '/v1/agents',
  key: 'agent_id',
  idPrefix: 'agt',
  title: 'Agent',
  fields: {
    name: string({ minLength: 1, maxLength: 256 }),
    description: nullable(string({ maxLength: 4096 })),
    config: agentConfig,
  },
  writable: ['name', 'description', 'config'],
  access: secretKeyOrDashboard('member'),
  operations: { list: {}, create: { status: 200 }, get: {} },
})
