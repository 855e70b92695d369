import type { EstatePart } from './estate-part.ts'

/** The estate of runs. */
export const runs: EstatePart = {
  make: async ({ id }) => ({ parent_run_id: id('run_id') }),
  bodies: {
    'runs.create': ({ id }, n) => ({
      ...{ tenant_id: id('tenant_id'), installation_id: id('installation_id') },
      input: { prompt: `hello ${n}` },
    }),
  },
  atWork: ({ all }) => all('run_id').map((id) => `/v1/runs/${id}`),
  once: {
    'runs.delegate': ({ id }) => ({ agent_version_id: id('agent_version_id'), input: {} }),
  },
}
