import { knowledgeBases, sourceRows } from '#actors/knowledge/kinds.ts'
import type { SourceRow } from '#actors/knowledge/schema.ts'
import { BaseIndexes } from '#actors/knowledge/search/base-indexes.ts'
import { FoundChunks } from '#actors/knowledge/search/found-chunks.ts'
import { baseServer, baseService, searchBase } from '#actors/knowledge/search/search-base.ts'
import { storeDocument } from '#actors/knowledge/sources/document-store.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { embedDocument } from '#actors/knowledge/sources/vector-store.ts'
import { Table } from '#records/table.ts'
import { IndexBound } from '#retrieval/index.ts'
import { systemClock } from '#runtime/clock.ts'
import { actorBlobs, PlacedWork } from '#runtime/internal.ts'
import { chunksOf } from '#src/parsing/documents/chunk.ts'
import { type BlobStore, projectScope, type Storage } from '#storage/index.ts'

/** The base of a project: ids are unique in a store. */
export const baseOf = (project: string): string => `kb_${project.slice(4)}`

const syllables = 'ka lo mi ter sun ve ran dol pi gre sta ne quo bel far un'.split(' ')
const words = Array.from(
  { length: 400 },
  (_, n) => `${syllables[n % 16]}${syllables[(n >> 4) % 16]}${syllables[(n * 7) % 16]}`,
)

/** Returns a text of some chunks whose words follow from its number and version. */
const textOf = (n: number, version = 1): string => {
  let state = n * 1_000 + version
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const word = (): string => words[Math.floor(words.length * next() ** 2)] ?? ''
  const sentence = (): string => `The ${word()} of the ${word()} is near ${word()}, and so ${word()} was by ${word()}.`
  return Array.from({ length: 40 }, sentence).join(' ')
}

export const queries = words.slice(20, 30).map((word, n) => `${word} ${words[n + 30]}`)

/** An embedder whose vectors follow from the characters of a text. */
const embedderOf = (dimensions: number) => {
  const vectorOf = (text: string): Float32Array => {
    const vector = new Float32Array(dimensions)
    for (let at = 0; at < text.length; at++)
      vector[at % dimensions] = (vector[at % dimensions] ?? 0) + Math.sin(text.charCodeAt(at))
    return vector
  }
  return { id: 'test/small', embed: async (texts: readonly string[]) => texts.map(vectorOf) }
}

export const embedder = embedderOf(8)

export interface NodeOptions {
  readonly now?: () => number
  readonly blobs?: BlobStore
  /** Whether sources get vectors. */
  readonly isEmbedded?: boolean
  readonly maxBytes?: number
  /** Resolves when the rows show all changes. */
  readonly shown?: () => Promise<void>
  /** Where its searches are done; absent: in the process itself. */
  readonly placed?: PlacedWork
  /** Length of vectors. */
  readonly dimensions?: number
}

/** A process that stores and searches the sources of bases of one project. */
export const nodeOn = (storage: Storage, project: string, options: NodeOptions = {}) => {
  const { now = Date.now, blobs: stored = storage.blobs, isEmbedded = true } = options
  const embedder = embedderOf(options.dimensions ?? 8)
  const { records } = storage
  const base = baseOf(project)
  const sources = new SourceBlobs(storage.blobs, now)
  const bases = new Table(records, knowledgeBases, now)
  const parts = {
    ...{
      records,
      embedderOf: async () => (isEmbedded ? embedder : null),
      vectors: null,
      blobs: sources,
      segments: stored,
      embedAgain: async () => {},
    },
    clock: { ...systemClock, now, steady: () => performance.now(), soon: systemClock.soon, after: systemClock.after },
    ...{
      log: Object({ warn: () => {} }),
      shown: options.shown ?? (async () => {}),
      projects: { note: async () => {} },
    },
    ...(options.maxBytes !== undefined && { bound: new IndexBound(options.maxBytes) }),
  }
  const indexes = new BaseIndexes(parts)
  const found = new FoundChunks({ blobs: sources, indexes })
  const { placed = new PlacedWork(systemClock) } = options
  placed.serve(baseService, baseServer({ ...parts, indexes, found, now }))
  const rowOf = async (n: number, { version = 1, of = base, text = textOf(n, version) } = {}): Promise<SourceRow> => {
    const id = `src_${of}_${n}`
    await bases.insert({ id: of, project, data: { name: of, description: null, tenant_id: null, metadata: {} } })
    const owner = { project, tenant: null, source: id }
    const chunks = [...chunksOf(text)]
    const document = await storeDocument(sources, owner, { title: `Title ${n}`, text, page_count: null, chunks })
    const signal = new AbortController().signal
    const vectors = isEmbedded
      ? await embedDocument(sources, embedder, { owner, document, before: null, clock: systemClock, signal })
      : null
    const data = {
      ...{ knowledge_base_id: of, base_status: `${of} ready`, metadata: { n: n % 3 } },
      ...({ status: 'ready', type: 'text' } as const),
      ...{ document, vectors, title: null, url: null, filename: null, mime_type: 'text/plain', checksum: null },
      ...{ refresh_interval_s: null, size_bytes: 1, changes: null, error: null, synced_at_ms: 1 },
    }
    const times = { created_at: 1, updated_at: 1, expires_at: null }
    return { id, project, tenant: null, user: null, version, ...times, data }
  }
  /** Writes rows as the host does; resolves when they are in the index of a process that searches. */
  const write = async (rows: readonly SourceRow[], isNoted = true) => {
    const after = await indexes.watch(rows)
    await records.project(rows.map((record) => ({ kind: sourceRows, record })))
    if (isNoted) after(true)
  }
  const save = async (numbers: readonly number[], version = 1, isNoted = true) =>
    write(await Promise.all(numbers.map((n) => rowOf(n, { version }))), isNoted)
  const remove = async (n: number) => {
    const row = await rowOf(n)
    await write([{ ...row, version: 99, expires_at: 1, data: {} as SourceRow['data'] }])
    await records.sweep(sourceRows, now(), 100)
    await storage.blobs.remove(project, actorBlobs({ tenant: null, actor: row.id }))
  }
  const search = (query: string, of = base, filter: Parameters<typeof searchBase>[1]['filter'] = null) =>
    searchBase(
      { ...parts, indexes, found, placed, now },
      { ...{ project, tenant: null, base: of, query, top_k: 20, threshold: 0 }, filter, explain: true },
    )
  const hits = async () => {
    const all = []
    for (const query of queries)
      all.push(
        (await search(query)).data.map(({ chunk_id, score, parts, content }) => ({ chunk_id, score, parts, content })),
      )
    return all
  }
  const of = () => indexes.of({ project, tenant: null, base })
  const count = () => records.count(sourceRows, projectScope(project), { knowledge_base_id: base })
  return { base, bases, indexes, rowOf, write, save, remove, search, hits, of, count, sources, records }
}
