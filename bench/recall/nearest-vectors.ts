import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dotProducts } from '#retrieval/dot-products.ts'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { LanceVectors } from '#storage/lance/lance-vectors.ts'
import { TableUpkeep } from '#storage/lance/table-upkeep.ts'
import { sized } from '../extent.ts'
import { median, type Row } from '../row.ts'

const [project, space, dimensions] = ['prj_a', 'base model', 384]
/** Number of vectors of a source, and of clusters: in the largest base one has twice as many as a search takes. */
const [each, clusters] = [10_000, 500]
/** Number of the nearest vectors that a search of a base takes for candidates. */
const limit = 200

let state = 7
const random = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

/** Vectors in clusters, as those of texts are. */
const madeVectors = (count: number): readonly Int8Array[] => {
  const centers = Array.from({ length: clusters }, () =>
    Float32Array.from({ length: dimensions }, () => (random() - 0.5) * 140),
  )
  return Array.from({ length: count }, () => {
    const center = centers[Math.floor(random() * clusters)] ?? new Float32Array()
    return Int8Array.from(center, (number) => Math.max(-127, Math.min(127, number + (random() - 0.5) * 80)))
  })
}

/** Searches exactly in this process, as an index in memory does. */
const exactSearch = (vectors: readonly Int8Array[]): ((query: Int8Array) => readonly number[]) => {
  const products = dotProducts()
  if (products === null) throw new Error('no SIMD instructions')
  const rows = new Int8Array(vectors.length * dimensions)
  const lengths = Float32Array.from(vectors, (numbers, at) => {
    rows.set(numbers, at * dimensions)
    return Math.hypot(...numbers)
  })
  const max = products.maxRows(dimensions)
  return (query) => {
    const cosines = new Float32Array(vectors.length)
    for (let from = 0; from < vectors.length; from += max) {
      const to = Math.min(from + max, vectors.length)
      const sums = products.run(rows.subarray(from * dimensions, to * dimensions), Int16Array.from(query))
      for (let at = from; at < to; at++) cosines[at] = (sums[at - from] ?? 0) / (lengths[at] ?? 1)
    }
    const bound = cosines.toSorted().at(-limit) ?? 0
    return [...cosines.keys()].filter((at) => (cosines[at] ?? 0) >= bound)
  }
}

interface Timed {
  readonly ms: number
  readonly cpuMs: number
}

const timed = async (work: () => Promise<unknown>): Promise<Timed> => {
  const [from, before] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - from, cpuMs: (user + system) / 1_000 }
}

const stored = async (packages: LancePackages, folder: string, all: readonly Int8Array[]): Promise<void> => {
  const vectors = await LanceVectors.open(packages, { uri: folder, min: 1 })
  for (let from = 0; from < all.length; from += each) {
    const part = all.slice(from, from + each).map((numbers, n) => ({ id: `${from + n}`, numbers }))
    await vectors.put({ project, space, blob: `b${from}`, group: `ksr_${from}`, vectors: part })
  }
  await vectors.close()
}

const tended = async (packages: LancePackages, folder: string): Promise<void> => {
  const { lance } = packages
  const db = await lance.connect(folder, { readConsistencyInterval: 0 }, new lance.Session(64n << 20n, 16n << 20n))
  const upkeep = new TableUpkeep({
    ...{ lance, versionMs: 0, indexedFrom: 1_000 },
    open: (name) => db.openTable(name),
    drop: (name) => db.dropTable(name),
  })
  for (const name of await db.tableNames({ limit: 10 })) upkeep.changed(name)
  await upkeep.settled()
  await upkeep.close()
  db.close()
}

/** Compares the nearest vectors of the largest base in LanceDB with an exact search in the process. */
export const benchVectors = async (): Promise<readonly Row[]> => {
  const require = await npmPackages('lancedb')
  const packages = lanceOf(require)
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-vectors-'))
  try {
    const all = madeVectors(sized(200_000, 2_000))
    const exact = exactSearch(all)
    const put = await timed(() => stored(packages, folder, all))
    const built = await timed(() => tended(packages, folder))
    const reader = await LanceVectors.open(packages, { uri: folder, min: 1 })
    const [own, engine]: [Timed[], Timed[]] = [[], []]
    let found = 0
    for (let n = 0; n < sized(100, 5); n++) {
      const query = Int8Array.from(
        all[(n * 1_999) % all.length] ?? [],
        (number) => number * 0.7 + (random() - 0.5) * 40,
      )
      let wanted: ReadonlySet<string> = new Set()
      own.push(
        await timed(async () => {
          wanted = new Set(exact(query).map(String))
        }),
      )
      const search = { project, space, groups: null, vector: Float32Array.from(query), limit }
      engine.push(
        await timed(async () => {
          found += (await reader.nearest(search)).filter(({ id }) => wanted.has(id)).length / limit
        }),
      )
    }
    await reader.close()
    return rowsOf(all.length, { put, built, own, engine, found })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Measured {
  readonly put: Timed
  readonly built: Timed
  readonly own: readonly Timed[]
  readonly engine: readonly Timed[]
  /** Sum of the shares of the nearest that were found. */
  readonly found: number
}

const rowsOf = (count: number, { put, built, own, engine, found }: Measured): readonly Row[] => {
  const row = (measure: string, unit: string, ours: number, value?: number): Row => ({
    ...{ measure: `${measure}, ${count.toLocaleString('en')} vectors in LanceDB`, unit, ours },
    ...(value !== undefined && { against: { name: 'exact, in memory', value } }),
  })
  const middle = (times: readonly Timed[], of: keyof Timed) => median(times.map((time) => time[of]))
  const late = (times: readonly Timed[]) =>
    times.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]
  return [
    row('stored', 's', put.ms / 1_000),
    row('stored: CPU', 's', put.cpuMs / 1_000),
    row('indexes built', 's', built.ms / 1_000),
    row('indexes built: CPU', 's', built.cpuMs / 1_000),
    { ...row('recall of the 200 nearest', '', found / engine.length), bound: { of: 'ours', atLeast: 0.9 } },
    row('search, median', 'ms', middle(engine, 'ms'), middle(own, 'ms')),
    row('search, p95', 'ms', late(engine) ?? Number.NaN, late(own)),
    row('search: CPU', 'ms', middle(engine, 'cpuMs'), middle(own, 'cpuMs')),
    row('RSS after the searches, with vectors of the comparison', 'MB', process.memoryUsage.rss() / 1e6),
  ]
}
