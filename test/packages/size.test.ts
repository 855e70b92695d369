import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'
import { ours } from './packed.ts'

const entries: Readonly<Record<string, string>> = {
  '@troupe/client': ours('packages/client/src/index.ts'),
  '@troupe/client/api': ours('packages/client/src/api/index.ts'),
  '@troupe/react': ours('packages/react/src/index.ts'),
}

/** Bytes of a program that uses the packages, minified and compressed; React itself does not count. */
const sizeOf = async (program: string): Promise<number> => {
  const bundle = await rolldown({
    input: 'program',
    platform: 'browser',
    external: ['react'],
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? '\0program.js' : (entries[id] ?? null)),
        load: (id) => (id === '\0program.js' ? program : null),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true, comments: false })
  await bundle.close()
  return gzipSync(output[0].code, { level: 9 }).length
}

const core = "export { Troupe } from '@troupe/client'\n"

describe('what a page loads, minified and compressed', () => {
  it('is at most 5 KiB for sessions, and 2 KiB more with React', async () => {
    const alone = await sizeOf(core)
    const withReact = await sizeOf(`${core}export * from '@troupe/react'`)
    console.info(`sessions ${alone} B, with React ${withReact} B`)
    expect(alone).toBeLessThanOrEqual(5 * 1024)
    expect(withReact - alone).toBeLessThanOrEqual(2 * 1024)
  })

  it('is at most 15 KiB for everything that the client has, and little more than sessions with one resource', async () => {
    const whole = await sizeOf("export * from '@troupe/client'\nexport * from '@troupe/client/api'")
    const one = await sizeOf(`${core}export { agents } from '@troupe/client/api'`)
    console.info(`whole client ${whole} B, sessions and one resource ${one} B`)
    expect(whole).toBeLessThanOrEqual(15 * 1024)
    expect(one).toBeLessThanOrEqual(6 * 1024)
  })

  it('has no dependency', () => {
    for (const name of ['client', 'react']) {
      const manifest = JSON.parse(readFileSync(ours(`packages/${name}/package.json`), 'utf8'))
      expect(Object.keys(manifest.dependencies ?? {})).toEqual([])
    }
  })
})
