import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

/** Takes from Node what Node 20 lacks. */
const asNode20 = `data:text/javascript,${encodeURIComponent(
  "import m, { syncBuiltinESMExports } from 'node:module'; for (const name of ['registerHooks', 'stripTypeScriptTypes', 'enableCompileCache']) delete m[name]; syncBuiltinESMExports()",
)}`

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', asNode20, ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe('a Node that is too old', () => {
  it.each([
    ['bin/troupe.js'],
    ['bin/troupe.js', 'doctor'],
    ['bin/troupe.js', '--help'],
    ['src/start.js'],
    ['--import', './src/start/kept-sources.js', 'scripts/quickstart.ts'],
    ['--import', './src/start/kept-sources.js', 'src/gateway/simulated/main.ts'],
  ])('is named in one sentence by %s %s %s', (...args) => {
    const { status, stdout, stderr } = run(...args)
    expect(stderr).toMatch(/^Troupe needs Node 22\.18 or newer, this is v[\d.]+\. Use `npm start`.*\n$/)
    expect([status, stdout]).toEqual([1, ''])
  })
})
