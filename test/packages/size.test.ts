import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { core, sizeOf, whole } from '../../bench/clients/bundle-size.ts'
import { ours } from './packed.ts'

describe('what a page loads, minified and compressed', () => {
  it('is at most 5 KiB for sessions, and 2 KiB more with React', async () => {
    const alone = await sizeOf(core)
    const withReact = await sizeOf(`${core}export * from '@troupe/react'`)
    console.info(`sessions ${alone} B, with React ${withReact} B`)
    expect(alone).toBeLessThanOrEqual(5 * 1024)
    expect(withReact - alone).toBeLessThanOrEqual(2 * 1024)
  })

  it('is at most 15 KiB for everything that the client has, and little more than sessions with one resource', async () => {
    const all = await sizeOf(whole)
    const one = await sizeOf(`${core}export { agents } from '@troupe/client/api'`)
    console.info(`whole client ${all} B, sessions and one resource ${one} B`)
    expect(all).toBeLessThanOrEqual(15 * 1024)
    expect(one).toBeLessThanOrEqual(6 * 1024)
  })

  it('has no dependency, and the version of the server', () => {
    const { version } = JSON.parse(readFileSync(ours('package.json'), 'utf8'))
    for (const name of ['client', 'react']) {
      const manifest = JSON.parse(readFileSync(ours(`packages/${name}/package.json`), 'utf8'))
      expect(Object.keys(manifest.dependencies ?? {})).toEqual([])
      expect(manifest.version).toBe(version)
    }
    expect(readFileSync(ours('packages/python/pyproject.toml'), 'utf8')).toContain(`version = "${version}"`)
  })
})
