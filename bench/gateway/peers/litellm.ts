import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPythonPackages } from '#scripts/services/python-packages.ts'
import { type Service, startService } from '#scripts/services/service.ts'
import { cores } from '../tools.ts'

const key = 'sk-bench'

/** A model of LiteLLM: where it is, and by which key it is called. */
interface Deployment {
  readonly url: string
  readonly key: string
}

/** Starts LiteLLM's proxy (`litellm.txt` pins its release), with one process, as its image does, without its database. */
export const startLiteLlm = (deployments: readonly Deployment[], settings: object = {}): Promise<Service> => {
  const packages = installPythonPackages('litellm', join(import.meta.dirname, 'litellm.txt'))
  const config = {
    model_list: deployments.map(({ url, key: api_key }) => ({
      model_name: 'mock',
      litellm_params: { model: 'openai/mock', api_base: `${url}/v1`, api_key },
    })),
    litellm_settings: { telemetry: false },
    general_settings: { master_key: key },
    ...settings,
  }
  return startService({
    name: 'litellm',
    command: 'taskset',
    env: () => ({
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, PYTHONPATH: packages },
      // what it would fetch from its vendor, and send to it
      ...{ LITELLM_LOCAL_MODEL_COST_MAP: 'true', LITELLM_TELEMETRY: 'False', DISABLE_ADMIN_UI: 'true' },
    }),
    args: (port, folder) => {
      const file = join(folder, 'config.json')
      writeFileSync(file, JSON.stringify(config))
      const proxy = ['--config', file, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False']
      const program = `import sys; sys.argv=['litellm', *${JSON.stringify(proxy)}]; from litellm import run_server; run_server()`
      return ['-c', cores.server, 'python3', '-c', program]
    },
    url: (port) => `http://127.0.0.1:${port}`,
  })
}

/** What a call to it carries. */
export const liteLlmHeaders = { authorization: `Bearer ${key}` } as const

/** Its own filter of personal data, which masks e-mail addresses in requests. */
export const liteLlmRedaction = {
  guardrails: [
    {
      guardrail_name: 'personal-data',
      litellm_params: {
        ...{ guardrail: 'litellm_content_filter', mode: 'pre_call', default_on: true },
        patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
      },
    },
  ],
} as const

/** Its cache in the memory of the process. */
export const liteLlmCache = {
  litellm_settings: { telemetry: false, cache: true, cache_params: { type: 'local' } },
} as const
