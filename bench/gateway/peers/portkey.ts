import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCommand, say } from '#scripts/services/command.ts'
import { type Service, startService } from '#scripts/services/service.ts'
import { cores } from '../tools.ts'

const release = '1.15.2'
const folder = resolve(import.meta.dirname, '../../../.cache', `portkey-${release}`)

/** Starts Portkey's open gateway. It has no keys of its own: each call brings its provider's, and its settings. */
export const startPortkey = (): Promise<Service> => {
  const server = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  if (!existsSync(server)) {
    say('installing Portkey into .cache (once)')
    mkdirSync(folder, { recursive: true })
    const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder]
    runCommand('npm', [...install, `@portkey-ai/gateway@${release}`])
  }
  return startService({
    name: 'portkey',
    command: 'taskset',
    env: () => ({ PATH: process.env.PATH, HOME: process.env.HOME }),
    args: (port) => ['-c', cores.server, process.execPath, server, '--headless', `--port=${port}`],
    url: (port) => `http://127.0.0.1:${port}`,
  })
}

/** What a call to it carries that goes to the provider at `url`. */
export const portkeyHeaders = (url: string, config?: object) => ({
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': `${url}/v1`,
  authorization: 'Bearer bench',
  ...(config && { 'x-portkey-config': JSON.stringify(config) }),
})

/** Its own replacement by a pattern, for e-mail addresses in requests. */
export const portkeyRedaction = (url: string) => ({
  ...{ provider: 'openai', api_key: 'bench', custom_host: `${url}/v1` },
  input_guardrails: [{ 'default.regexReplace': { rule: '[\\w.+-]+@[\\w-]+\\.[\\w.]+', redactText: '[EMAIL]' } }],
})

/**
 * A pool of keys: one chosen by chance, and another by chance twice more when it fails.
 *
 * A retry of its own goes to the same key.
 */
export const portkeyPool = (url: string, keys: readonly string[]) => {
  const targets = keys.map((api_key) => ({ provider: 'openai', api_key, custom_host: `${url}/v1` }))
  const onStatus = { on_status_codes: [408, 429, 500, 502, 503, 504] }
  const one = { strategy: { mode: 'loadbalance' }, targets }
  return { strategy: { mode: 'fallback', ...onStatus }, targets: [one, one, one] }
}
