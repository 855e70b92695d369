import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const name = 'uWebSockets.js'
const runtime = 'onnxruntime-node'
const folders: string[] = []

const newFolder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'troupe-install-'))
  folders.push(made)
  return made
}

/** A checkout with the scripts of `postinstall`, and a lock file that names this hash. */
const checkout = (integrity: string): string => {
  const folder = newFolder()
  mkdirSync(join(folder, 'scripts'))
  for (const file of ['native-server.js', 'native-package.js', 'embedder-runtime.js', 'recorded-binaries.json'])
    cpSync(join(root, 'scripts', file), join(folder, 'scripts', file))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const locked = { name: '@uwsjs/linux-x64-22', version: '20.51.4', integrity }
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { [`node_modules/${name}`]: locked } }))
  return folder
}

/** The installed package as npm would download it. */
const archiveOf = (): string => {
  const folder = newFolder()
  cpSync(join(root, 'node_modules', name), join(folder, 'package'), { recursive: true })
  const archive = join(folder, 'native.tgz')
  spawnSync('tar', ['-czf', archive, '-C', folder, 'package'])
  return archive
}

const integrityOf = (file: string): string =>
  `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`

/** Runs a script of `postinstall` with an npm whose downloads are this archive; null: it cannot download. */
const run = (folder: string, script: string, archive: string | null) => {
  const npm = join(newFolder(), 'npm.js')
  const copy = `require('node:fs').copyFileSync(${JSON.stringify(archive)}, process.argv[process.argv.indexOf('--pack-destination') + 1] + '/p.tgz')`
  writeFileSync(npm, archive === null ? 'process.exit(1)' : copy)
  const env = { ...process.env, npm_execpath: npm }
  return spawnSync(process.execPath, [join(folder, 'scripts', script)], { env, encoding: 'utf8' }).stdout
}

const isInstalled = (folder: string, what = name): boolean => existsSync(join(folder, 'node_modules', what))

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('the install of native code', () => {
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  it('unpacks the native server that has the hash of package-lock.json', () => {
    const archive = archiveOf()
    const folder = checkout(integrityOf(archive))
    expect(run(folder, 'native-server.js', archive)).toBe('')
    expect(isInstalled(folder)).toBe(true)
  })

  it('refuses a native server with another hash, in one sentence, and unpacks nothing', () => {
    const archive = archiveOf()
    const folder = checkout(integrityOf(archive))
    appendFileSync(archive, ' ')
    expect(run(folder, 'native-server.js', archive)).toBe(
      'The native HTTP server was not installed, because the download does not have the hash of package-lock.json: node:http serves, at half the speed.\n',
    )
    expect(isInstalled(folder)).toBe(false)
  })

  it('refuses a native server without a lock file to verify it against, and says when npm cannot download it', () => {
    const folder = checkout('sha512-x')
    expect(run(folder, 'native-server.js', null)).toContain('because npm could not download it')
    rmSync(join(folder, 'package-lock.json'))
    expect(run(folder, 'native-server.js', archiveOf())).toContain('there is no package-lock.json')
    expect(isInstalled(folder)).toBe(false)
  })

  it.each([
    [name, 'uws.node', 'native-server.js', 'node:http serves, at half the speed.'],
    [runtime, 'dist/binding.js', 'embedder-runtime.js', 'texts are found by their words alone.'],
  ])('removes %s when a file of it is not the recorded one', (what, file, script, instead) => {
    const folder = checkout('sha512-x')
    const place = join(folder, 'node_modules', what)
    cpSync(join(root, 'node_modules', what), place, { recursive: true })
    expect(run(folder, script, null)).toBe('')
    expect(isInstalled(folder, what)).toBe(true)
    appendFileSync(join(place, file), ' ')
    expect(run(folder, script, archiveOf())).toBe(
      `${what} was removed, because its ${file} is not the recorded file: ${instead}\n`,
    )
    expect(isInstalled(folder, what)).toBe(false)
  })
})
