import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import * as whole from 'undici'
import { describe, expect, it } from 'vitest'
import { undici } from '#outgoing/undici.ts'

const program = `
  const { undici } = await import(${JSON.stringify(resolve(import.meta.dirname, '../../src/outgoing/undici.ts'))})
  const { createRequire } = await import('node:module')
  const kept = new (undici().Agent)()
  const { cache } = createRequire(import.meta.url)
  const loaded = Object.keys(cache).map((path) => path.split('/undici/').at(-1))
  console.log(JSON.stringify({ loaded, request: typeof kept.request, own: Symbol.for('undici.globalDispatcher.1') in globalThis }))
`

describe('the HTTP client for hosts of customers', () => {
  it('loads only the modules it needs, and leaves the fetch of Node as it is', () => {
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
    const printed = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
    expect(printed).toMatchObject({ request: 'function', own: false })
    expect(printed.loaded.length).toBeLessThan(40)
    expect(printed.loaded.filter((path: string) => /mock|web\/|cache|interceptor/.test(path))).toEqual([])
  })

  it('exports the classes of the package', () => {
    const { Agent, Pool, buildConnector } = undici()
    expect({ Agent, Pool, buildConnector }).toEqual({
      Agent: whole.Agent,
      Pool: whole.Pool,
      buildConnector: whole.buildConnector,
    })
  })
})
