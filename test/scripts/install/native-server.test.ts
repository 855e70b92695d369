import { appendFileSync, cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { archiveOf, checkoutWith, integrityOf, isInstalled, root, run } from './checkout.ts'

const name = 'uWebSockets.js'
const runtime = 'onnxruntime-node'

/** A checkout with a lock file that names this hash. */
const checkout = (integrity: string): string => {
  const locked = { name: '@uwsjs/linux-x64-22', version: '20.51.4', integrity }
  return checkoutWith({ 'package-lock.json': { packages: { [`node_modules/${name}`]: locked } } })
}

/** The installed package as npm would download it. */
const native = (): string =>
  archiveOf((folder) => cpSync(join(root, 'node_modules', name), folder, { recursive: true }))

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('the install of native code', () => {
  it('unpacks the native server that has the hash of package-lock.json', () => {
    const archive = native()
    const folder = checkout(integrityOf(archive))
    expect(run(folder, 'native-server.js', archive).printed).toBe('')
    expect(isInstalled(folder, name)).toBe(true)
  })

  it('refuses a native server with another hash, in one sentence, and unpacks nothing', () => {
    const archive = native()
    const folder = checkout(integrityOf(archive))
    appendFileSync(archive, ' ')
    expect(run(folder, 'native-server.js', archive).printed).toBe(
      'The native HTTP server was not installed, because the download does not have the recorded hash: node:http serves, at half the speed.\n',
    )
    expect(isInstalled(folder, name)).toBe(false)
  })

  it('refuses a native server without a lock file to verify it against, and says when npm cannot download it', () => {
    const folder = checkout('sha512-x')
    expect(run(folder, 'native-server.js', null).printed).toContain('because npm could not download it')
    rmSync(join(folder, 'package-lock.json'))
    expect(run(folder, 'native-server.js', native()).printed).toContain('there is no package-lock.json')
    expect(isInstalled(folder, name)).toBe(false)
  })

  it.each([
    [name, 'uws.node', 'native-server.js', 'node:http serves, at half the speed.'],
    [runtime, 'dist/binding.js', 'embedder-runtime.js', 'texts are found by their words alone.'],
  ])('removes %s when a file of it is not the recorded one', (what, file, script, instead) => {
    const folder = checkout('sha512-x')
    const place = join(folder, 'node_modules', what)
    cpSync(join(root, 'node_modules', what), place, { recursive: true })
    expect(run(folder, script, null).printed).toBe('')
    expect(isInstalled(folder, what)).toBe(true)
    appendFileSync(join(place, file), ' ')
    expect(run(folder, script, native()).printed).toBe(
      `${what} was removed, because its ${file} is not the recorded file: ${instead}\n`,
    )
    expect(isInstalled(folder, what)).toBe(false)
  })
})
