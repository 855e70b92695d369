import { registerHooks } from 'node:module'

/*
 * Preloaded by `node --import`: the server is started from its sources, with a session machine that is one version
 * newer. Stands for the next release in tests of upgrades.
 */
const start = `
import { registerHooks } from 'node:module'
import { keepSources } from './start/sources.js'

keepSources(new URL('..', import.meta.url).pathname.replace(/\\/$/, ''))
registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    if (!url.endsWith('/session-definition.ts')) return loaded
    const source = String(loaded.source)
    const version = Number(/\\bversion: (\\d+)/.exec(source)[1])
    const newer = source
      .replace(/\\bversion: \\d+/, 'version: ' + (version + 1))
      .replace('migrations: {', 'migrations: { ' + version + ': (state) => state,')
    return { ...loaded, source: newer }
  },
})
void (await import('./main.ts')).run()
`

registerHooks({
  load: (url, context, next) =>
    url.endsWith('/src/start.js') ? { format: 'module', source: start, shortCircuit: true } : next(url, context),
})
