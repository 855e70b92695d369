import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quickClients } from '#scripts/clients/known-clients.ts'

/** Runs .ci/run in a new folder with an npm that only prints its arguments and fails for the given ones. */
function runWith(failing: string): { readonly status: number | null; readonly lines: readonly string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-ci-'))
  cpSync(resolve(import.meta.dirname, '../../.ci'), join(folder, '.ci'), { recursive: true })
  mkdirSync(join(folder, 'bin'))
  const npm = `#!/bin/sh
echo "npm $*, CI=$CI"
read -r line && echo "read input"
[ "$1" = test ] && echo "7 passed, 1 failed"
[ "$*" != "${failing}" ]
`
  writeFileSync(join(folder, 'bin/npm'), npm, { mode: 0o755 })
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
  const run = spawnSync(join(folder, '.ci/run'), { cwd: '/', env, encoding: 'utf8', input: 'surprise\n' })
  rmSync(folder, { recursive: true })
  return { status: run.status, lines: run.stdout.trim().split('\n') }
}

const install = 'ci --no-audit --no-fund'
/** Steps that run in parallel with the tests, in the order of the log. */
const beside = [
  ...[
    'run check',
    'run quickstart -- --exit',
    'run clients -- --quick',
    'run mcp-conformance',
    'run schemathesis -- --examples 4',
    'run platforms',
  ],
  ...['run chaos -- --minutes 1 --seed 1', 'run soak -- --minutes 3 --rate 5', 'run bench -- --whole'],
]
const steps = [install, 'test', ...beside]

describe('the CI script', () => {
  it('runs the install, the tests and all other steps, and ends with the test summary', () => {
    const { status, lines } = runWith('nothing')
    expect(status).toBe(0)
    expect(lines.filter((line) => line.startsWith('npm '))).toEqual(steps.map((step) => `npm ${step}, CI=true`))
    expect(lines.at(-1)).toBe('7 passed, 1 failed')
    expect(lines).not.toContain('read input')
  })

  it.each(steps)('fails when npm %s fails, and still runs the other steps', (step) => {
    const { status, lines } = runWith(step)
    expect(status).toBe(1)
    expect(lines.filter((line) => line.startsWith('npm '))).toHaveLength(steps.length)
    expect(lines.filter((line) => line.startsWith('FAILED: '))).toHaveLength(1)
    expect(lines.at(-1)).toBe('7 passed, 1 failed')
  })

  it('makes a client of the served document with each code generator that npm or PyPI carries', () => {
    const generators = ['openapi-typescript', 'hey-api', 'openapi-python-client']
    expect(Object.keys(quickClients)).toEqual(expect.arrayContaining(generators))
  })
})
