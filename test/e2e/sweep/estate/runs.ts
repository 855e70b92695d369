import type { EstatePart } from './estate-part.ts'

const a2aMessage = (n: number): object => ({
  ...{ messageId: `m${n}`, role: 'ROLE_USER', parts: [{ text: `reply exactly: ${n}` }] },
})

/** The estate of runs. */
export const runs: EstatePart = {
  make: async ({ api, id, mark, hook }) => {
    const path = `/v1/agents/${id('agent_id')}/a2a/tasks/${id('run_id')}/pushNotificationConfigs`
    const headers = { 'x-tenant-id': id('tenant_id') }
    const { body } = await api.post(path, { id: `config-${mark}`, url: hook }, { headers })
    return { parent_run_id: id('run_id'), config_id: body.id }
  },
  bodies: {
    'a2a.set_push_config': ({ mark, hook }, n) => ({ id: `other-${mark}`, url: hook, token: `token-${n}` }),
    'a2a.send': (_, n) => ({ message: a2aMessage(n) }),
    'a2a.stream': (_, n) => ({ message: a2aMessage(n) }),
    'a2a.call': (_, n) => ({ jsonrpc: '2.0', id: n, method: 'SendMessage', params: { message: a2aMessage(n) } }),
    'runs.create': ({ id }, n) => ({
      ...{ tenant_id: id('tenant_id'), installation_id: id('installation_id') },
      input: { prompt: `hello ${n}` },
    }),
  },
  shownBy: {
    'a2a.call params': 'test/e2e/protocols/a2a.e2e.test.ts',
    'a2a.send configuration': 'test/e2e/protocols/a2a.e2e.test.ts',
    'a2a.stream configuration': 'test/e2e/protocols/a2a.e2e.test.ts',
    'a2a.tasks contextId': 'test/e2e/protocols/a2a.e2e.test.ts',
    'a2a.tasks pageToken': 'test/e2e/protocols/a2a.e2e.test.ts',
    'a2a.tasks statusTimestampAfter': 'test/actors/runs/a2a/a2a-runs.test.ts',
    'runs.create expires_in': 'test/actors/runs/runs.test.ts',
    'runs.replay after_sequence': 'test/actors/runs/replay.test.ts',
    'runs.replay reason': 'test/actors/runs/replay.test.ts',
  },
  beyondSchema: {
    'a2a.call': 'methods have parameters of their own',
    'a2a.send': 'a message has an id, a role and parts',
    'a2a.set_push_config': 'a URL may parse and still not be one that the server connects to',
    'a2a.stream': 'a message has an id, a role and parts',
  },
  atWork: ({ all }) => all('run_id').map((id) => `/v1/runs/${id}`),
  once: {
    'runs.delegate': ({ id }) => ({ agent_version_id: id('agent_version_id'), input: {} }),
  },
}
