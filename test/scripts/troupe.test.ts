import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = resolve('.')

/** What the Dockerfile copies, as it lies in the image. */
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

  it.for(['backup', 'export', 'import', 'credits', 'reset-owner'])(
    'has all that %s loads, which shows its usage with --help, and does nothing',
    (command) => {
      const usage = expect.stringMatching(/^usage: npm run /)
      expect(troupe(command, '--help')).toMatchObject({ status: 0, stderr: '', stdout: usage })
      expect(existsSync(join(image, 'data'))).toBe(false)
    },
  )

  it('has all that the doctor loads', () => {
    expect(troupe('doctor')).toMatchObject({ status: 0, stdout: expect.stringContaining('0 failed') })
  })

  it('names its commands when asked, and for one it does not have', () => {
    expect(troupe('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('doctor') })
    expect(troupe('dance')).toMatchObject({ status: 2, stderr: expect.stringContaining('There is no command dance') })
  })
})

describe('a script', () => {
  const data = join(tmpdir(), `troupe-never-${process.pid}`)

  it.for(['quickstart', 'cluster', 'doctor'])('%s shows its usage with --help, and does nothing', (name) => {
    const { status, stdout } = run(join(root, `scripts/${name}.ts`), ['--help'], { DATA_DIR: data })
    expect(status).toBe(0)
    expect(stdout).toMatch(/^usage: npm run /)
    expect(existsSync(data)).toBe(false)
  })

  it.for(['quickstart', 'cluster', 'export'])('%s refuses an option that it does not know, with its usage', (name) => {
    const { status, stderr } = run(join(root, `scripts/${name}.ts`), ['--nonsense'], { DATA_DIR: data })
    expect(status).toBe(2)
    expect(stderr).toContain('--nonsense')
    expect(stderr).toContain('usage: npm run ')
  })
})
