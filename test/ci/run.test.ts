import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { quickClients } from '#scripts/clients/known-clients.ts'
import { drawnOf } from '#test/setup/at-night.ts'

interface Finished {
  readonly status: number | null
  readonly lines: readonly string[]
}

/** A new folder with .ci/run, and an npm that only prints its arguments and fails for the given ones. */
function newCheckout(failing: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-ci-'))
  cpSync(resolve(import.meta.dirname, '../../.ci'), join(folder, '.ci'), { recursive: true })
  mkdirSync(join(folder, 'bin'))
  const npm = `#!/bin/sh
echo "npm $*, CI=$CI"
read -r line && echo "read input"
[ "$1" = test ] && echo "7 passed, 1 failed"
[ "$*" != "${failing}" ] && exit 0
seq -f "line %g" 20
exit 3
`
  writeFileSync(join(folder, 'bin/npm'), npm, { mode: 0o755 })
  return folder
}

function runIn(folder: string, more: Readonly<Record<string, string>> = {}): Finished {
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, ...more }
  const run = spawnSync(join(folder, '.ci/run'), { cwd: '/', env, encoding: 'utf8', input: 'surprise\n' })
  return { status: run.status, lines: run.stdout.trim().split('\n') }
}

function runWith(failing: string): Finished {
  const folder = newCheckout(failing)
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return runIn(folder)
}

const install = 'ci --no-audit --no-fund'
/** Steps that run in parallel with the tests, in the order of the log. */
const beside = [
  ...[
    'run check',
    'run quickstart -- --exit',
    'run clients -- --quick --every 3',
    'run mcp-conformance -- --every 3',
    'run schemathesis -- --examples 1 --every 8',
    'run platforms',
    'run chart -- --if-changed',
  ],
  'run chaos -- --minutes 0.5 --seed 1',
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

  it.each(drawnOf(steps, 3))(
    'fails when npm %s fails, still runs the other steps, and ends with what it wrote last',
    (step) => {
      const { status, lines } = runWith(step)
      expect(status).toBe(1)
      expect(lines.filter((line) => line.startsWith('npm '))).toHaveLength(steps.length)
      const first = lines.findIndex((line) => line.startsWith('FAILED: '))
      const output = Array.from({ length: 15 }, (_, at) => `    line ${at + 6}`)
      expect(lines.slice(first)).toEqual([
        expect.stringMatching(new RegExp(`^FAILED: (timeout \\d+ )?npm ${step}$`)),
        '=== the last lines of each, above its name:',
        ...output,
        expect.stringContaining(`npm ${step} (exit code 3, `),
        '7 passed, 1 failed',
      ])
    },
  )

  it('makes a client of the served document with each code generator that npm or PyPI carries', () => {
    const generators = ['openapi-typescript', 'hey-api', 'openapi-python-client']
    expect(Object.keys(quickClients)).toEqual(expect.arrayContaining(generators))
  })

  /** A repository with every path that the script names, one commit on the trunk, and a branch. */
  const repository = (): { readonly folder: string; readonly git: (...args: readonly string[]) => string } => {
    const folder = newCheckout('nothing')
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const git = (...args: readonly string[]): string =>
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: folder,
        encoding: 'utf8',
      }).stdout
    for (const path of testedPaths()) write(folder, join(path, 'file'))
    write(folder, 'docs/page.md')
    write(folder, '.gitignore', '.vitest/')
    git('init', '--initial-branch=trunk')
    git('add', '.')
    git('commit', '--message=first')
    git('switch', '--create=change')
    return { folder, git }
  }
  const write = (folder: string, path: string, text = 'text'): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  /** The paths of steps that run only if one of them has changed. */
  const testedPaths = (): readonly string[] => {
    const text = readFileSync(resolve(import.meta.dirname, '../../.ci/run'), 'utf8')
    const [, served = ''] = /^readonly served=\((.*)\)$/m.exec(text) ?? []
    const own = [...text.matchAll(/step_of (?:"\$\{served\[@\]\}" )?(.*?) -- /g)].flatMap(([, paths = '']) =>
      paths.split(' '),
    )
    expect(own.length).toBeGreaterThan(2)
    return [...served.split(' '), ...own]
  }
  const conditional = [
    'run clients -- --quick --every 3',
    'run mcp-conformance -- --every 3',
    'run schemathesis -- --examples 1 --every 8',
    'run chart -- --if-changed',
  ].map((step) => `npm ${step}, CI=true`)
  const trunk = { CI_BASE: 'trunk' }

  it('leaves clients, the MCP suite, schemathesis and the chart to the night if git shows that nothing they test has changed', () => {
    const { folder, git } = repository()
    write(folder, 'docs/page.md', 'changed')
    git('commit', '--all', '--message=second')
    const { status, lines } = runIn(folder, trunk)
    expect(status).toBe(0)
    for (const line of conditional) expect(lines).not.toContain(line)
    expect(lines.filter((line) => line.includes('left to the night'))).toHaveLength(conditional.length)
    expect(lines.filter((line) => line.startsWith('npm '))).toHaveLength(steps.length - conditional.length)
  })

  it.each<[string, (checkout: ReturnType<typeof repository>) => void, Readonly<Record<string, string>>]>([
    [
      'a commit changes what they test',
      ({ folder, git }) => {
        for (const path of ['src/transport/file', 'deploy/file']) write(folder, path, 'changed')
        git('commit', '--all', '--message=second')
      },
      trunk,
    ],
    [
      'a file that is not committed changes what they test',
      ({ folder, git }) => {
        git('commit', '--allow-empty', '--message=second')
        for (const path of ['specs/new', 'deploy/new']) write(folder, path)
      },
      trunk,
    ],
    [
      'one of their folders is gone',
      ({ folder, git }) => {
        git('commit', '--allow-empty', '--message=second')
        for (const path of ['src/gateway', 'scripts/chart']) rmSync(join(folder, path), { recursive: true })
      },
      trunk,
    ],
    ['the trunk is unknown', ({ git }) => git('commit', '--allow-empty', '--message=second'), { CI_BASE: 'elsewhere' }],
    ['it runs on the trunk itself', () => undefined, trunk],
    ['there is no repository', ({ folder }) => rmSync(join(folder, '.git'), { recursive: true }), trunk],
  ])('runs them all if %s', (_, change, env) => {
    const checkout = repository()
    change(checkout)
    const { lines } = runIn(checkout.folder, env)
    for (const line of conditional) expect(lines).toContain(line)
  })

  it('names only paths that exist for what they test', () => {
    for (const path of testedPaths()) expect(existsSync(resolve(import.meta.dirname, '../..', path)), path).toBe(true)
  })
})
