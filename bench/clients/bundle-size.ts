import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { isForBeingWhole } from '../extent.ts'
import type { Row } from '../row.ts'

const root = resolve(import.meta.dirname, '../..')
const entries: Readonly<Record<string, string>> = {
  '@troupe/client': join(root, 'packages/client/src/index.ts'),
  '@troupe/client/api': join(root, 'packages/client/src/api/index.ts'),
  '@troupe/react': join(root, 'packages/react/src/index.ts'),
}

/** Bytes of a program that uses the packages, minified and compressed; React itself does not count. */
export const sizeOf = async (program: string): Promise<number> => {
  const bundle = await rolldown({
    input: 'program',
    platform: 'browser',
    cwd: root,
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

/** A program that uses sessions alone. */
export const core = "export { Troupe } from '@troupe/client'\n"
/** A program that uses all of the client. */
export const whole = "export * from '@troupe/client'\nexport * from '@troupe/client/api'"

/** Bytes of the declarations that a page's compiler reads for sessions. */
const typesOfCore = (): number => {
  const out = mkdtempSync(join(tmpdir(), 'types-'))
  const project = ['-p', join(root, 'packages/tsconfig.json'), '--outDir', out]
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...project])
  if (status !== 0) throw new Error(`no declarations: ${stdout}`)
  const folder = join(out, 'packages/client/src')
  const files = readdirSync(folder).filter((name) => name.endsWith('.d.ts') && name !== 'webhooks.d.ts')
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  rmSync(out, { recursive: true })
  return bytes
}

/** Measures what a page loads, and what its compiler reads. */
export const sizeRows = async (): Promise<readonly Row[]> => {
  const alone = await sizeOf(core)
  const withReact = await sizeOf(`${core}export * from '@troupe/react'`)
  const row = (measure: string, ours: number, atMost: number): Row => ({
    ...{ measure, unit: 'B', ours, bound: { of: 'ours', atMost } },
  })
  return [
    row('size of sessions, min+gz', alone, 5 * 1024),
    row('size that React adds', withReact - alone, 2 * 1024),
    row('size of the whole client', await sizeOf(whole), 15 * 1024),
    // their compiler takes longer than a smoke run
    ...(isForBeingWhole ? [] : [row('types of sessions', typesOfCore(), 60_000)]),
  ]
}
