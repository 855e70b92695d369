import { secretKeyOrDashboard } from '../access.ts'
import { agentConfig } from '../agent-config.ts'
import { defineResource } from '../dsl/resource.ts'
import { defaulted, described, nullable, oneOf, string } from '../dsl/schema.ts'

/** Agents of a project. */
export const agents = defineResource('agents', {
  path: '/v1/agents',
  key: 'agent_id',
  idPrefix: 'agt',
  title: 'Agent',
  description: 'An agent: a model with its instructions and tools.',
  fields: {
    name: string({ minLength: 1, maxLength: 256 }),
    description: nullable(string({ maxLength: 4096 })),
    config: agentConfig,
    visibility: described(
      defaulted(oneOf('private', 'unlisted', 'public'), 'public'),
      'Which tenants may use the agent. `private`: those with an active installation of it; a client token of another tenant cannot open a session of the agent, nor continue one. `unlisted` and `public`: every tenant of the project. The agent catalogue lists a version with the stricter of the visibilities of the version and the agent.',
    ),
  },
  writable: ['name', 'description', 'config', 'visibility'],
  access: secretKeyOrDashboard('member'),
  operations: {
    list: {},
    create: {
      description: 'The agent can be used by its id at once. To review and publish its config, create versions of it.',
      status: 200,
    },
    get: { description: 'Returns the current config of the agent, which is independent of its versions.' },
    update: {
      description:
        'Changes the fields that the body contains. Turns and runs in progress keep the config with which they began.',
    },
    delete: {
      summary: 'Delete an agent',
      description: 'Its versions and keys are deleted too. An agent with active installations cannot be deleted.',
      errors: ['agent_in_use'],
    },
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly agents: typeof agents
  }
}
