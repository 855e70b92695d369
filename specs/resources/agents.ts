import { secretKeyOrDashboard } from '../access.ts'
import { agentConfig } from '../agent-config.ts'
import { defineResource } from '../resource.ts'
import { nullable, string } from '../schema.ts'

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
  operations: {
    list: {},
    create: { status: 200 },
    get: {},
    update: {},
    delete: {
      summary: 'Delete an agent with its versions and keys; refused while active installations use it',
      errors: ['agent_in_use'],
    },
  },
})
