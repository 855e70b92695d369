import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '#src/start/commands.js'
import packageJson from '../../package.json' with { type: 'json' }
import type { CommandLine, Outcome } from './command-lines/run-in-process.ts'

const root = resolve('.')
const runner = resolve('test/scripts/command-lines/run-in-process.ts')
const missing: Outcome = { status: null, stdout: '', stderr: '' }

/** Copies the files of the Dockerfile's COPY lines as they are in the image. */
const copyImage = (to: string): void => {
  for (const line of readFileSync('Dockerfile', 'utf8').split('\n')) {
    if (!line.startsWith('COPY ')) continue
    const sources = line.split(' ').slice(1)
    const target = join(to, sources.pop() ?? '')
    for (const source of sources) {
      const isFolder = statSync(source).isDirectory()
      mkdirSync(isFolder ? target : join(target, '.'), { recursive: true })
      cpSync(source, isFolder ? target : join(target, basename(source)), { recursive: true })
    }
  }
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'))
  // sources without their types, by their content: to strip all of them takes seconds
  symlinkSync(join(root, '.cache'), join(to, '.cache'))
}

const run = (file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}, at = root) => {
  const options = { encoding: 'utf8' as const, timeout: 50_000, env: { PATH: process.env.PATH ?? '', ...env } }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', join(at, 'src/start/kept-sources.js'), file, ...args],
    options,
  )
  return { status, stdout, stderr }
}

/** Runs command lines in one process, since each loads most of the sources. @returns what each did, in their order. */
const runAll = (lines: readonly CommandLine[], env: Readonly<Record<string, string>>, at?: string) => {
  const printed = run(runner, [JSON.stringify(lines)], env, at)
  expect(printed).toMatchObject({ status: 0, stderr: '' })
  const outcomes: readonly Outcome[] = JSON.parse(printed.stdout)
  return outcomes
}

describe('the image', () => {
  const image = mkdtempSync(join(tmpdir(), 'troupe-image-'))
  beforeAll(() => copyImage(image))
  afterAll(() => rmSync(image, { recursive: true, force: true }))
  const env = { DATA_DIR: join(image, 'data'), PORT: '0' }
  const troupe = (...args: readonly string[]) => run(join(image, 'bin/troupe.js'), args, env)

  it('has all modules of each command of troupe, which prints its usage with --help and does nothing', () => {
    const lines = Object.entries(commands).map(([command, { file }]) => ({
      ...{ file: join(image, file), args: ['--help'], command },
    }))
    const outcomes = runAll(lines, env, image)
    expect(lines.map(({ command }, at) => ({ command, ...outcomes[at] }))).toEqual(
      lines.map(({ command }) => ({
        ...{ command, status: 0, stderr: '', stdout: expect.stringMatching(`^usage: troupe ${command}`) },
      })),
    )
    expect(existsSync(join(image, 'data'))).toBe(false)
  })

  it('has all modules of the doctor', () => {
    // the model takes seconds to open; test/scripts/doctor/broken.test.ts opens it
    const printed = run(join(image, 'bin/troupe.js'), ['doctor'], { ...env, EMBEDDER: 'none' })
    expect(printed).toMatchObject({ status: 0, stdout: expect.stringContaining('0 failed') })
  })

  it('has an MCP server that prints its usage with --help and refuses unknown options', () => {
    expect(troupe('mcp', '--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^usage: troupe mcp/) })
    expect(troupe('mcp', '--nonsense')).toMatchObject({ status: 2, stderr: expect.stringMatching(/^Unknown option/) })
  })

  it('lists its commands with --help, and refuses an unknown command', () => {
    expect(troupe('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('doctor') })
    expect(troupe('dance')).toMatchObject({ status: 2, stderr: expect.stringContaining('There is no command dance') })
  })
})

/** Commands of package.json: not those that npm runs itself, nor those of a third-party tool with its own options. */
const scripts = Object.entries(packageJson.scripts).filter(
  ([name]) => !['install', 'postinstall', 'postpack', 'format'].includes(name),
)
/** Those that refuse options which they do not know: the others pass them to the test runner. */
const withOwnOptions = scripts.filter(([name]) => name !== 'test' && name !== 'record-calls')

/** The script that a command of package.json runs, and the arguments in it. */
const scriptOf = (line: string): CommandLine => {
  const [file = '', ...args] = line.slice(line.search(/\S+\.[jt]s( --\w+)*$/)).split(' ')
  return { file, args }
}

const refused = [
  ['bench', '--only dance', '--only'],
  ['bench', '--secs soon', '--secs'],
  ['bench', '--only recall --sets no-such-folder', '--sets'],
  ['chaos', '--minutes -1', '--minutes'],
  ['chaos', '--only dance', '--only'],
  ['soak', '--rate 0', '--rate'],
  ['browser-jobs', '--jobs some', '--jobs'],
  ['simulate', '--seed x', '--seed'],
  ['simulate', '--scenario dance', '--scenario'],
  ['simulate', '--planted dance', 'dance'],
  ['nightly', 'dance', 'dance'],
  ['clients', '--only dance', '--only'],
  ['schemathesis', '--only dance', '--only'],
  ['picture', '--only dance', '--only'],
  ['cluster', '--nodes many', '--nodes'],
  ['stuck', '', 'SECRET_KEY'],
  ['credits', '', '--organization'],
  ['credits', '--organization org_1 --grant much', '--grant'],
  ['reset-owner', '', '--email'],
  ['export', '--project prj_1', '--out'],
  ['import', '', '--in'],
] as const

describe('a command of package.json', () => {
  const data = join(tmpdir(), `troupe-never-${process.pid}`)
  let outcomes: Readonly<Record<string, Outcome>> = {}
  const help = (name: string): string => `${name} --help`
  const unknown = (name: string): string => `${name} --nonsense`

  beforeAll(() => {
    const lineOf = (name: keyof typeof packageJson.scripts, args: string): CommandLine => {
      const script = scriptOf(packageJson.scripts[name])
      return { ...script, args: [...script.args, ...args.split(' ').filter((each) => each !== '')] }
    }
    const lines = Object.fromEntries([
      ...scripts.map(([name, line]) => [help(name), { ...scriptOf(line), args: ['--help'] }] as const),
      ...withOwnOptions.map(([name, line]) => [unknown(name), { ...scriptOf(line), args: ['--nonsense'] }] as const),
      ...refused.map(([name, args]) => [`${name} ${args}`, lineOf(name, args)] as const),
    ])
    const found = runAll(Object.values(lines), { DATA_DIR: data, PORT: '0' })
    outcomes = Object.fromEntries(Object.keys(lines).map((line, at) => [line, found[at] ?? missing]))
  }, 120_000)

  it.for(scripts)('npm run %s prints its usage with --help and does nothing', ([name]) => {
    expect(outcomes[help(name)]).toEqual({ status: 0, stderr: '', stdout: expect.stringMatching(/^usage: npm /) })
    expect(existsSync(data)).toBe(false)
  })

  it.for(withOwnOptions)('npm run %s refuses an unknown option with its usage and without a stack trace', ([name]) => {
    const { status, stdout, stderr } = outcomes[unknown(name)] ?? missing
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^(Unknown option|Unexpected argument) '--nonsense'\.?\nusage: npm /)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(existsSync(data)).toBe(false)
  })

  it.for(refused)('npm run %s -- %s is refused with its usage', ([name, args, named]) => {
    const { status, stdout, stderr } = outcomes[`${name} ${args}`] ?? missing
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain(named)
    expect(stderr).toContain('\nusage: npm run ')
  })

  it.for(['start', 'doctor', 'generate'] as const)('npm run %s is a line that a shell runs', (name) => {
    const PATH = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`
    const options = { cwd: root, encoding: 'utf8' as const, timeout: 50_000, env: { PATH, DATA_DIR: data, PORT: '0' } }
    const { status, stdout } = spawnSync('sh', ['-c', `${packageJson.scripts[name]} --help`], options)
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^usage: npm /) })
  })

  it.for(Object.entries(commands))('npm run %s runs the same file as troupe', ([name, { file }]) => {
    // npm runs a script of the name `prepare` by itself, with each install
    const script = name === 'prepare' ? 'prepare-store' : name
    const line = Object.entries(packageJson.scripts).find(([each]) => each === script)?.[1]
    // troupe mcp is started by a client, never by npm, which prints to its output
    expect(line === undefined ? null : scriptOf(line).file).toBe(name === 'mcp' ? null : file)
  })
})
