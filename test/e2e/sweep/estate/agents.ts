import type { EstatePart } from './estate-part.ts'

const config = { model: 'simulated-1' }

/** The estate of agents, their versions, keys and installations. */
export const agents: EstatePart = {
  make: async ({ api, id, made }) => {
    const { body } = await api.get(`/v1/agents/${id('agent_id')}/versions?limit=1`)
    const agent_key_id = await made(`/v1/agents/${id('agent_id')}/keys`, { name: 'k' })
    return { version: '1.0.0', agent_version_id: body.data[0].id, agent_key_id }
  },
  bodies: {
    'agents.create': ({ mark }, n) => ({ name: `Agent ${mark} ${n}`, config }),
    'agent_versions.create': (_, n) => ({ version: `2.0.${n}`, config }),
    'installations.create': ({ id }, n) => ({
      ...{ tenant_id: id('tenant_id'), agent_id: id('agent_id'), rate_plan_id: id('rate_plan_id') },
      overlays: { system_prompt_append: `Number ${n}.` },
    }),
  },
  chosen: ['version'],
  noIds: ['test_connection_ids'],
  changing: ['agent_keys.list'],
  beyondSchema: { 'agent_keys.create': 'expires_at lies in the future' },
}
