import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }

const root = resolve('.')

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
}

const run = (file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const options = { encoding: 'utf8' as const, timeout: 50_000, env: { PATH: process.env.PATH ?? '', ...env } }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', join(root, 'src/start/kept-sources.js'), file, ...args],
    options,
  )
  return { status, stdout, stderr }
}

describe('the image', () => {
  const image = mkdtempSync(join(tmpdir(), 'troupe-image-'))
  beforeAll(() => copyImage(image))
  afterAll(() => rmSync(image, { recursive: true, force: true }))
  const troupe = (...args: readonly string[]) =>
    run(join(image, 'bin/troupe.js'), args, { DATA_DIR: join(image, 'data'), PORT: '0' })

  it.for(['backup', 'export', 'import', 'credits', 'reset-owner', 'stuck', 'rebuild-rows', 'quickstart'])(
    'has all modules of %s, which prints its usage with --help and does nothing',
    (command) => {
      const usage = expect.stringMatching(/^usage: npm run /)
      expect(troupe(command, '--help')).toMatchObject({ status: 0, stderr: '', stdout: usage })
      expect(existsSync(join(image, 'data'))).toBe(false)
    },
  )

  it('has all modules of the doctor', () => {
    expect(troupe('doctor')).toMatchObject({ status: 0, stdout: expect.stringContaining('0 failed') })
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

/** Commands of package.json, except those that run a third-party tool with its own options. */
const commands = Object.entries(packageJson.scripts).filter(([name]) => name !== 'postinstall' && name !== 'format')
const withoutOwnOptions = new Set(['test', 'record-calls'])

describe('a command of package.json', () => {
  const data = join(tmpdir(), `troupe-never-${process.pid}`)
  const command = (line: string) => {
    const PATH = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
      ...{ cwd: root, encoding: 'utf8', timeout: 50_000, env: { PATH, DATA_DIR: data, PORT: '0' } },
    })
    return { status, stdout, stderr }
  }

  it.for(commands)('npm run %s prints its usage with --help and does nothing', ([, line]) => {
    const stdout = expect.stringMatching(/^usage: npm /)
    expect(command(`${line} --help`)).toMatchObject({ status: 0, stderr: '', stdout })
    expect(existsSync(data)).toBe(false)
  })

  it.for(commands.filter(([name]) => !withoutOwnOptions.has(name)))(
    'npm run %s refuses an unknown option with its usage and without a stack trace',
    ([, line]) => {
      const { status, stdout, stderr } = command(`${line} --nonsense`)
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
      expect(stderr).toMatch(/^(Unknown option|Unexpected argument) '--nonsense'\.?\nusage: npm /)
      expect(stderr).not.toMatch(/^\s+at /m)
      expect(existsSync(data)).toBe(false)
    },
  )

  it.for([
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
  ] as const)('npm run %s -- %s is refused with its usage', ([name, args, named]) => {
    const { status, stdout, stderr } = command(`${packageJson.scripts[name]} ${args}`)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain(named)
    expect(stderr).toContain('\nusage: npm run ')
  })
})
