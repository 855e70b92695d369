import { EmbedderUnavailable, isZero, type PassageQuery } from '#retrieval/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { maxGraphHits } from '#specs/memory-objects.ts'
import type { RecordStore } from '#storage/index.ts'
import { timestampOf, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import type { Backgrounds } from './embedding/backgrounds.ts'
import type { Embedded, EmbedderOf } from './embedding/embedders.ts'
import { readerOf } from './embedding/memory-reader.ts'
import { connectedMemories, type GraphHit } from './indexes/memory-graph.ts'
import { isSeenFrom, type PlaceFilter } from './indexes/memory-place.ts'
import { asOfThen, holdingContent } from './indexes/superseded-parts.ts'
import type { MemoryEntry, UserMemoryIndex } from './indexes/user-memory-index.ts'
import type { UserMemoryIndexes } from './indexes/user-memory-indexes.ts'
import { type MemoryData, memories } from './kinds.ts'
import type { LastUsedRecorder } from './last-used-recorder.ts'
import type { MemoryLimits } from './memory-limits.ts'
import { type MemoryOwner, ownersScope } from './memory-owner.ts'
import { supersededView } from './memory-view.ts'

export interface MemorySearchParts {
  readonly records: RecordStore
  readonly now: () => number
  readonly indexes: UserMemoryIndexes
  readonly embedderOf: EmbedderOf
  readonly limits: MemoryLimits
  readonly used: Pick<LastUsedRecorder, 'note'>
  readonly backgrounds: Pick<Backgrounds, 'of'>
}

/** A search of one user's memories. */
export interface MemoryQuery {
  readonly text: string
  readonly place: PlaceFilter
  readonly limit: number
  /** Minimum score; 0 for no minimum. */
  readonly threshold: number
  /** ms since the epoch; null: now. */
  readonly asOf: number | null
  readonly graph: boolean
  readonly index?: boolean
  readonly explain?: boolean
}

/** One memory found by a search. */
export type MemoryHit = ResultOf<'memory.search'>['results'][number]

type LeftOut = NonNullable<ResultOf<'memory.search'>['left_out']>[number]

/** Result of a search. */
export type MemoryHits = ResultOf<'memory.search'>

interface Found {
  readonly id: string
  readonly score: number
  readonly source: MemoryHit['source']
  readonly match?: MemoryHit['match']
  readonly parts?: Readonly<Record<string, number>> | undefined
  readonly graph?: GraphHit
}

const summaryLength = 120
/** Maximum number of excluded memories that an explanation lists. */
const maxUnseen = 20

/** Searches one user's memories by words and vectors, then along the relations of entities that the query names. */
export class MemorySearch {
  readonly #parts: MemorySearchParts
  readonly #table: Table<MemoryData>

  constructor(parts: MemorySearchParts) {
    this.#parts = parts
    this.#table = new Table(parts.records, memories, parts.now)
  }

  /** @throws {ServiceError} `memory_ops_quota_exceeded` */
  async search(owner: MemoryOwner, query: MemoryQuery): Promise<MemoryHits> {
    await this.#parts.limits.operation(owner, 'searches')
    const [index, embedder] = await Promise.all([
      this.#parts.indexes.open(owner),
      this.#parts.embedderOf(owner.project),
    ])
    const now = this.#parts.now()
    const at = query.asOf ?? now
    const isFound = (id: string): boolean => isHeld(index.get(id), query.place, { asOf: query.asOf, now })
    const special = isPlain(query) ? index.special : null
    const accepts = special === null ? isFound : (id: string): boolean => !special.has(id) || isFound(id)
    const filter = special === null ? { accepts } : { accepts, doubtful: special }
    const embedded: Embedded = await this.#embedded(owner, index, query)
    const rows = new Map<string, Row<MemoryData>>()
    const search = {
      ...{ text: query.text, vector: embedded.vectors[0] ?? null, limit: query.limit, threshold: query.threshold },
      ...{ explain: query.explain ?? false, now: at },
      ...(embedder !== null && { embedder: embedder.id }),
      ...(embedder !== null &&
        embedded.vectors.length > 0 && {
          background: this.#parts.backgrounds.of(embedder, owner),
          read: readerOf(embedder, query.text, (ids) => this.#contents(owner, ids, rows)),
        }),
    }
    const { hits, left_out } = await index.passages.search({ ...search, ...(special?.size !== 0 && filter) })
    const isEmbedded = embedded.vectors.length > 0
    const found: Found[] = hits.map(({ id, score, byWords, parts }) => ({
      ...{ id, score, source: 'vector', parts },
      match: !isEmbedded || index.get(id)?.embedded !== true ? 'lexical' : byWords ? 'both' : 'vector',
    }))
    if (query.graph) found.push(...(await connected(index, { query, found, accepts })))
    const results = await this.#shown(owner, index, { found, query, rows })
    return {
      results,
      // what is only related to a name in the query does not answer it
      abstained: results.every(({ source }) => source === 'graph'),
      embedder: isEmbedded ? (embedder?.id ?? null) : null,
      ...(query.explain === true && {
        left_out: [...(left_out ?? []).map((each) => ({ ...each })), ...(await this.#unseen(index, query, search))],
      }),
      ...{ costUsd: embedded.costUsd, model: embedded.model, provider: embedded.provider },
    }
  }

  /** Embeds the query. When that fails, or the model cannot read it, the search uses its words only. */
  async #embedded(owner: MemoryOwner, index: UserMemoryIndex, { text }: MemoryQuery): Promise<Embedded> {
    const none: Embedded = { vectors: [], costUsd: 0, model: null, provider: null }
    const embedder = await this.#parts.embedderOf(owner.project)
    if (embedder === null || index.size === 0) return none
    try {
      const embedded = await embedder.embed([text], 'query', owner)
      return embedded.vectors.every(isZero) ? { ...embedded, vectors: [] } : embedded
    } catch (error) {
      if (error instanceof ServiceError || error instanceof EmbedderUnavailable) return none
      throw error
    }
  }

  /** Returns memories that match the query, but that its place or time excludes. */
  async #unseen(index: UserMemoryIndex, query: MemoryQuery, search: PassageQuery): Promise<readonly LeftOut[]> {
    const context = { place: query.place, asOf: query.asOf, now: this.#parts.now() }
    const accepts = (id: string): boolean => exclusionOf(index.get(id), context) !== null
    const { hits } = await index.passages.search({ ...search, accepts, limit: maxUnseen, explain: false })
    return hits.flatMap(({ id, score }) => {
      const reason = exclusionOf(index.get(id), context)
      return reason === null ? [] : [{ id, score, reason }]
    })
  }

  /** Returns the hits as they are stored. Memories removed since the index was read are left out. */
  async #shown(
    owner: MemoryOwner,
    index: UserMemoryIndex,
    { found, query, rows: known }: Shown,
  ): Promise<readonly MemoryHit[]> {
    const ids = found.map(({ id }) => id)
    const rows = await this.#rows(owner, ids, known)
    const hits: MemoryHit[] = []
    const doubted = doubtsIn(ids, rows)
    for (const each of doubtedLater(found, doubted)) {
      const row = rows.get(each.id)
      if (row === undefined) index.remove(each.id)
      else hits.push({ ...hitOf(row, each, query), ...doubtOf(doubted.get(each.id)) })
    }
    if (query.asOf === null) this.#parts.used.note(ids.flatMap((id) => rows.get(id) ?? []))
    return hits
  }

  async #contents(
    owner: MemoryOwner,
    ids: readonly string[],
    known: Map<string, Row<MemoryData>>,
  ): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#rows(owner, ids, known)
    return new Map(ids.flatMap((id) => contentOf(id, rows.get(id))))
  }

  /** Reads the rows that are not `known` yet, adds them to it, and returns all of these ids. */
  async #rows(
    owner: MemoryOwner,
    ids: readonly string[],
    known: Map<string, Row<MemoryData>>,
  ): Promise<ReadonlyMap<string, Row<MemoryData>>> {
    const missing = ids.filter((id) => !known.has(id))
    if (missing.length === 0) return known
    for (const [id, row] of await this.#table.getMany(ownersScope(owner), missing)) known.set(id, row)
    return known
  }
}

/** Returns the found memories that another one may supersede, each with that one. */
const doubtsIn = (ids: readonly string[], rows: ReadonlyMap<string, Row<MemoryData>>): ReadonlyMap<string, string> =>
  new Map(
    ids.flatMap((id) => {
      const doubts = rows.get(id)?.data.doubts
      return doubts === undefined || !ids.includes(doubts) ? [] : [[doubts, id] as const]
    }),
  )

/** Returns what was found with the memory that may supersede another one before it. */
const doubtedLater = (found: readonly Found[], doubted: ReadonlyMap<string, string>): readonly Found[] => {
  const ordered = [...found]
  for (const [older, newer] of doubted) {
    const [at, to] = [newer, older].map((wanted) => ordered.findIndex(({ id }) => id === wanted))
    if (at !== undefined && to !== undefined && at > to) ordered.splice(to, 0, ...ordered.splice(at, 1))
  }
  return ordered
}

const doubtOf = (by: string | undefined): Pick<MemoryHit, 'may_be_superseded_by'> =>
  by === undefined ? {} : { may_be_superseded_by: by }

const contentOf = (id: string, row: Row<MemoryData> | undefined): readonly (readonly [string, string])[] =>
  row === undefined ? [] : [[id, holdingContent(row.data)]]

interface Shown {
  readonly found: readonly Found[]
  readonly query: MemoryQuery
  /** Rows that the search has read. */
  readonly rows: Map<string, Row<MemoryData>>
}

/** Whether a query is for the current time, every namespace and no single session, as most queries are. */
const isPlain = ({ asOf, place }: MemoryQuery): boolean =>
  asOf === null && place.namespace === null && place.scope !== 'session'

/** Returns why a search may not find a memory; null when it may. */
const exclusionOf = (
  entry: MemoryEntry | undefined,
  { place, ...times }: { readonly place: PlaceFilter; readonly asOf: number | null; readonly now: number },
): string | null => {
  if (entry === undefined || isHeld(entry, place, times)) return null
  if (place.namespace !== null && entry.place.namespace !== place.namespace) return 'other_namespace'
  if (!isSeenFrom(place, entry.place)) return entry.place.scope === 'session' ? 'other_session' : 'other_scope'
  const at = times.asOf ?? times.now
  return entry.validTo !== null && entry.validTo <= at ? 'no_longer_valid' : 'not_yet_valid'
}

/** Whether a search may find a memory: its place matches, it has not expired, and it is valid at the given time. */
export const isHeld = (
  entry: MemoryEntry | undefined,
  place: PlaceFilter,
  { asOf, now }: { readonly asOf: number | null; readonly now: number },
): boolean => {
  if (entry === undefined || !isSeenFrom(place, entry.place)) return false
  if (entry.expiresAt !== null && entry.expiresAt <= now) return false
  if (entry.validTo !== null && entry.validTo <= (asOf ?? now)) return false
  return asOf === null ? (entry.startsAt ?? now) <= now : entry.validFrom <= asOf
}

const connected = async (
  index: UserMemoryIndex,
  {
    query,
    found,
    accepts,
  }: {
    readonly query: MemoryQuery
    readonly found: readonly Found[]
    readonly accepts: (id: string) => boolean
  },
): Promise<readonly Found[]> => {
  const known = new Set(found.map(({ id }) => id))
  const more: Found[] = []
  for await (const graph of connectedMemories(index, query.text, accepts)) {
    if (more.length >= maxGraphHits) break
    if (known.has(graph.id)) continue
    known.add(graph.id)
    more.push({ id: graph.id, score: 0, source: 'graph', graph })
  }
  return more
}

const hitOf = (row: Row<MemoryData>, { score, source, match, parts, graph }: Found, query: MemoryQuery): MemoryHit => {
  const data = query.asOf === null ? row.data : asOfThen(row.data, query.asOf)
  const content = holdingContent(data)
  return {
    id: row.id,
    content: query.index === true ? summaryOf(content) : content,
    score: Math.round(score * 10_000) / 10_000,
    source,
    ...(match !== undefined && { match }),
    ...((data.superseded ?? []).length > 0 && { superseded: supersededView(data) }),
    ...(data.flags !== undefined && { flags: data.flags }),
    ...(graph !== undefined && { hops: graph.hops }),
    scope: data.scope,
    sessionId: data.session_id,
    namespace: data.namespace,
    metadata: data.metadata,
    observed_at: timestampOf(data.observed_at_ms),
    valid_to: timestampOrNull(data.valid_to_ms),
    ...(query.explain === true && parts !== undefined && { parts }),
  }
}

/** Returns a content as a single line of at most 120 characters. */
export const summaryOf = (content: string): string => {
  const line = content.replaceAll(/\s+/g, ' ').trim()
  return line.length <= summaryLength ? line : `${line.slice(0, summaryLength - 1).toWellFormed()}…`
}
