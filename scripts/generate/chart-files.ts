import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Chart } from '#machines/definition.ts'
import { chartGraph } from '#runtime/inspect/chart-graph.ts'
import { chartLayout } from '#runtime/inspect/chart-layout.ts'
import type { GeneratedFile } from './generated-file.ts'

/** Path of a machine's layout, from the root of the project. */
export const chartPath = (machine: string): string => `console/charts/${machine}.layout.json`

/** Path of the digests of all layouts. */
export const chartDigestsPath = 'scripts/generate/chart-digests.json'

/** Hashes of what a layout was made from, and of its file. */
interface ChartDigest {
  readonly input: string
  readonly output: string
}

/**
 * Returns the layouts of these machines as files, and the file of their digests. A layout whose input and file are those
 * of its digest is not made again, which takes most of the time of all generated files.
 *
 * @param options.root the folder that holds the files; their paths are from there
 * @param options.isAnew makes every layout
 */
export async function chartFiles(
  charts: readonly Chart[],
  { root, isAnew = false }: { readonly root: string; readonly isAnew?: boolean },
): Promise<readonly GeneratedFile[]> {
  const known = digestsIn(textAt(join(root, chartDigestsPath)) ?? '{}')
  const maker = makerDigest()
  const made = charts.map(async (chart) => {
    const { name, version, machine } = chart
    const path = chartPath(name)
    const input = sha256(JSON.stringify([maker, name, version, chartGraph(machine)]))
    const kept = textAt(join(root, path))
    const isKept = !isAnew && known[name]?.input === input && known[name].output === sha256(kept ?? '')
    const text = isKept && kept !== null ? kept : `${JSON.stringify(await chartLayout(chart))}\n`
    return { path, text, digest: [name, { input, output: sha256(text) }] as const }
  })
  const files = await Promise.all(made)
  const digests = Object.fromEntries(files.map(({ digest }) => digest))
  return [
    ...files.map(({ path, text }) => ({ path, text })),
    { path: chartDigestsPath, text: `${JSON.stringify(digests, null, 2)}\n` },
  ]
}

/** The digests in a file; none if a merge left it unreadable, since generating it again is how such a conflict ends. */
const digestsIn = (text: string): Readonly<Record<string, ChartDigest>> => {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Hash of the code that makes a layout from a graph. */
const makerDigest = (): string => {
  const layout = new URL('../../src/actors/runtime/inspect/chart-layout.ts', import.meta.url)
  const elk = createRequire(import.meta.url).resolve('elkjs/lib/elk.bundled.js')
  return sha256(sha256(readFileSync(layout)) + sha256(readFileSync(elk)))
}

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

const textAt = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null)
