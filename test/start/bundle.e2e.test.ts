import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { nodeOptions } from '#scripts/services/server.ts'

/** A separate installation: the sources of this one, and its packages. */
const root = mkdtempSync(join(tmpdir(), 'troupe-installation-'))
const kept = join(root, '.cache/start')

const node = (...args: readonly string[]) => {
  const env = { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(root, `data-${++starts}`) }
  return spawn(process.execPath, [...nodeOptions, ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
}
let starts = 0

const makeBundle = async (): Promise<void> => {
  await once(node('src/start/make-bundle.ts'), 'exit')
}

/** Output of a start until it serves. */
const start = async (...options: readonly string[]): Promise<string> => {
  const child = node(...options, 'src/start.js')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  let printed = ''
  for await (const part of child.stdout) {
    printed += String(part)
    if (/server (started|began)/.test(printed)) break
  }
  return printed
}

/** Removes a folder in which a start may be building a bundle in the background: what it adds meanwhile makes a removal fail. */
const removed = (folder: string): Promise<void> =>
  vi.waitFor(() => rmSync(folder, { recursive: true, force: true }), { timeout: 30_000, interval: 100 })

const bundles = (): readonly string[] => readdirSync(kept).filter((name) => name.endsWith('.bundle.js'))
/** Number of sources kept without their types; only a start from the sources keeps them. */
const strippedSources = (): number => readdirSync(kept).filter((name) => /^[0-9a-f]{64}\.js$/.test(name)).length

describe('a start', () => {
  beforeAll(async () => {
    for (const part of ['src', 'specs', 'console', 'package.json', 'package-lock.json'])
      cpSync(resolve(part), join(root, part), { recursive: true })
    symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
    // the bundle of the same sources, which all tests use; the file metadata of this copy are others
    const isBundle = (path: string) => path.endsWith('/start') || /\.bundle\.js|bundle\.json$/.test(path)
    cpSync(resolve('.cache/start'), kept, { recursive: true, filter: isBundle })
  })
  afterAll(() => removed(root))

  it('reads the bundle of its sources, also in another folder', async () => {
    expect(await Promise.all([start(), start()])).toEqual([
      expect.stringContaining('server started'),
      expect.stringContaining('server started'),
    ])
    expect(strippedSources()).toBe(0)
  })

  it('loads no package before it serves that is needed only later', async () => {
    const spy = join(root, 'spy.cjs')
    const names = `const { Module } = require('node:module'); const { require: load } = Module.prototype
      Module.prototype.require = function (id) { process.stdout.write('loads ' + id + '\\n'); return load.call(this, id) }`
    writeFileSync(spy, names)
    const printed = await start('--require', spy)
    expect(printed).toContain('loads @node-rs/argon2')
    expect(printed).not.toMatch(/loads (undici|playwright|unpdf)/)
  })

  it('runs edited sources, before and after the bundle is rebuilt, with the console, by concurrent builds once', async () => {
    const [before = ''] = bundles()
    const source = join(root, 'src/open-installation.ts')
    writeFileSync(source, readFileSync(source, 'utf8').replace("'server started'", "'server began'"))
    expect(await start()).toContain('server began')
    expect(strippedSources()).toBeGreaterThan(500)
    await removed(join(kept, 'console'))
    await Promise.all([makeBundle(), makeBundle()])
    // an image is built so, and its start may write nothing
    expect(readdirSync(join(kept, 'console')).length).toBeGreaterThan(100)
    expect(bundles()).toHaveLength(1)
    expect(bundles()).not.toContain(before)
    expect(readdirSync(kept).filter((name) => name.endsWith('.code'))).toHaveLength(1)
    expect(await start()).toContain('server began')
  })

  it('works without the bundle if that is damaged, and without a cache folder', async () => {
    for (const name of bundles()) writeFileSync(join(kept, name), '(function () { ')
    expect(await start()).toContain('server began')
    await removed(join(root, '.cache'))
    writeFileSync(join(root, '.cache'), '')
    await makeBundle()
    expect(await start()).toContain('server began')
  })
})
