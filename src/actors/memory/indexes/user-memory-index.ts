import { normalisedName } from '#facts/index.ts'
import type { Row } from '#records/schema.ts'
import { PassageIndex, Pause, vectorOfText } from '#retrieval/index.ts'
import { softMemoryBytes } from '#specs/memory-objects.ts'
import type { FactData, MemoryData } from '../kinds.ts'
import { contentKey } from './content-key.ts'
import { type MemoryPlace, placeOf } from './memory-place.ts'
import { startOf } from './settled-facts.ts'
import { holdingContent } from './superseded-parts.ts'

/** Metadata of an indexed memory. */
export interface MemoryEntry {
  readonly id: string
  readonly version: number
  readonly place: MemoryPlace
  readonly importance: number
  readonly pinned: boolean
  readonly facts: readonly FactData[]
  /** ms since the epoch, as all times here. */
  readonly createdAt: number
  readonly observedAt: number
  readonly validFrom: number
  /** The beginning that the caller gave; null for none. */
  readonly startsAt: number | null
  readonly validTo: number | null
  readonly expiresAt: number | null
  readonly usedAt: number | null
  readonly embedded: boolean
  /** Seems to instruct a model, to which it is not given. */
  readonly flagged: boolean
  /** Actor of the write that created the memory. */
  readonly receipt: string | null
}

interface KeptEntry extends MemoryEntry {
  /** The content until duplicates are first looked up; its `contentKey` once it `isKeyed`. Searches need neither. */
  keyText: string
  isKeyed: boolean
}

/** Approximate size of an entry in bytes, without its words and vector. */
const entryBytes = 700

const none: readonly FactData[] = []

/** Maximum number of ids of removed memories that an index holds. */
const maxRemoved = 10_000

/** In-memory index of one user's memories: by words, by vectors, by normalised content and by facts. */
export class UserMemoryIndex {
  /** Id of the embedder whose vectors the index holds; null for none. */
  readonly embedder: string | null
  readonly passages = new PassageIndex('memory')
  /** Increases with every change. */
  revision = 0
  /** Version of the last change of another node that has been applied. */
  seen = 0
  readonly #entries = new Map<string, KeptEntry>()
  readonly #special = new Set<string>()
  #byKey: Map<string, string> | null = null
  readonly #byFact = new Map<string, Set<string>>()
  /** The part of `#byFact` whose facts may end others. */
  readonly #byClosingFact = new Map<string, Set<string>>()
  /** Removed memories. A row that was read before the removal must not return. */
  readonly #removed = new Set<string>()
  /** Earliest expiry of a memory, in ms since the epoch. */
  #expiresNext = Number.POSITIVE_INFINITY

  constructor(embedder: string | null) {
    this.embedder = embedder
  }

  get size(): number {
    return this.#entries.size
  }

  /** Approximate size in bytes. */
  get bytes(): number {
    return this.passages.bytes + this.#entries.size * entryBytes
  }

  get hasFacts(): boolean {
    return this.#byFact.size > 0
  }

  /** Memories that not every search may find: those of a session, that expire, or that are not yet or no longer valid. */
  get special(): ReadonlySet<string> {
    return this.#special
  }

  get(id: string): MemoryEntry | undefined {
    return this.#entries.get(id)
  }

  entries(): Iterable<MemoryEntry> {
    return this.#entries.values()
  }

  /** Returns the id of a memory with this `contentKey` that is still valid. */
  twin(key: string): string | undefined {
    if (this.#byKey === null) for (const entry of this.#unkeyed()) this.#key(entry)
    return this.#byKey?.get(key)
  }

  /** Prepares `twin` without holding the event loop. */
  async prepareTwins(pause: Pause): Promise<void> {
    if (this.#byKey !== null) return
    for (const entry of this.#unkeyed()) {
      // a memory that was removed or replaced during a pause is not among the entries any more
      if (this.#entries.get(entry.id) === entry) this.#key(entry)
      if (pause.due()) await pause.turn()
    }
  }

  /** Returns the entries to be keyed. From now on, new ones are keyed when they are added. */
  #unkeyed(): readonly KeptEntry[] {
    this.#byKey = new Map()
    return [...this.#entries.values()]
  }

  #key(entry: KeptEntry): void {
    entry.keyText = contentKey(entry.place, entry.keyText)
    entry.isKeyed = true
    if (entry.validTo === null) this.#byKey?.set(entry.keyText, entry.id)
  }

  /**
   * Yields the memories that have facts with this subject and relation (`factKey`).
   *
   * @param closing only those with a fact that may end others.
   */
  *about(key: string, { closing = false }: { readonly closing?: boolean } = {}): Iterable<MemoryEntry> {
    for (const id of (closing ? this.#byClosingFact : this.#byFact).get(key) ?? []) {
      const entry = this.#entries.get(id)
      if (entry !== undefined) yield entry
    }
  }

  /** Removes the memories that have expired, whose rows the store does not return any more. */
  dropExpired(now: number): void {
    if (now < this.#expiresNext) return
    this.#expiresNext = Number.POSITIVE_INFINITY
    for (const id of this.#special) {
      const expiresAt = this.#entries.get(id)?.expiresAt ?? null
      if (expiresAt === null) continue
      if (expiresAt <= now) this.remove(id)
      else this.#expiresNext = Math.min(this.#expiresNext, expiresAt)
    }
  }

  /** Adds a stored row, replacing an older version of it. */
  put(row: Row<MemoryData>): void {
    const known = this.#entries.get(row.id)
    if (this.#removed.has(row.id) || (known !== undefined && known.version >= row.version)) return
    if (known !== undefined) this.#take(known)
    const { data } = row
    this.revision++
    const embedded = this.embedder !== null && data.embedder === this.embedder && data.vector !== null
    const place = placeOf(data)
    // one object literal: built from spreads, it took a tenth of the time of a first search
    const entry: KeptEntry = {
      id: row.id,
      version: row.version,
      place,
      keyText: data.content,
      isKeyed: false,
      importance: data.importance,
      pinned: data.pinned,
      facts: data.facts.length === 0 ? none : data.facts,
      createdAt: row.created_at,
      observedAt: data.observed_at_ms,
      validFrom: data.facts.length === 0 ? (data.valid_from_ms ?? data.observed_at_ms) : startOf(data),
      startsAt: data.valid_from_ms,
      validTo: data.valid_to_ms,
      expiresAt: row.expires_at,
      usedAt: data.used_at_ms,
      embedded,
      flagged: data.flags !== undefined,
      receipt: data.receipt,
    }
    this.#entries.set(row.id, entry)
    const isLate = entry.startsAt !== null && entry.startsAt > row.updated_at
    if (isLate || place.scope === 'session' || entry.validTo !== null || entry.expiresAt !== null)
      this.#special.add(row.id)
    if (entry.expiresAt !== null) this.#expiresNext = Math.min(this.#expiresNext, entry.expiresAt)
    if (this.#byKey !== null) this.#key(entry)
    for (const fact of entry.facts) {
      const key = factKey(fact.subject, fact.relation)
      idsOf(this.#byFact, key).add(entry.id)
      if (mayClose(fact)) idsOf(this.#byClosingFact, key).add(entry.id)
    }
    this.passages.add({
      id: row.id,
      text: searched(holdingContent(data)),
      heading: inOtherWords(data.facts),
      group: data.session_id,
      order: data.observed_at_ms,
      at: data.observed_at_ms,
      speaker: data.speaker,
      vector: embedded && data.vector !== null ? vectorOfText(data.vector) : null,
    })
  }

  /** Adds stored rows without holding the event loop. */
  async putAll(rows: readonly Row<MemoryData>[]): Promise<void> {
    const pause = new Pause()
    for (const row of rows) {
      this.put(row)
      if (pause.due()) await pause.turn()
    }
  }

  /** Removes a memory for good. A row of it that is added later is ignored. */
  remove(id: string): boolean {
    if (this.#removed.size >= maxRemoved) this.#removed.clear()
    this.#removed.add(id)
    const entry = this.#entries.get(id)
    if (entry === undefined) return false
    this.#take(entry)
    return true
  }

  /** Lets rows of removed memories return: those that are read from now on exist. */
  forgetRemoved(): void {
    this.#removed.clear()
  }

  #take(entry: KeptEntry): void {
    const { id } = entry
    this.revision++
    this.#entries.delete(id)
    this.#special.delete(id)
    if (entry.isKeyed && this.#byKey?.get(entry.keyText) === id) this.#byKey.delete(entry.keyText)
    for (const { subject, relation } of entry.facts) {
      const key = factKey(subject, relation)
      for (const byFact of [this.#byFact, this.#byClosingFact]) {
        const ids = byFact.get(key)
        ids?.delete(id)
        if (ids?.size === 0) byFact.delete(key)
      }
    }
    this.passages.remove(id)
  }
}

/** Whether a fact may end others: it is the only one of its kind, or says that another holds no longer. */
export const mayClose = ({ single, ended }: Pick<FactData, 'single' | 'ended'>): boolean => single || ended

const idsOf = (map: Map<string, Set<string>>, key: string): Set<string> => {
  const known = map.get(key)
  if (known !== undefined) return known
  const ids = new Set<string>()
  map.set(key, ids)
  return ids
}

/** Returns the key that facts share when they may contradict each other. */
export const factKey = (subject: string, relation: string): string => `${normalisedName(subject)} ${relation}`

/** Returns facts in the words that questions use, so that "I moved to Oslo" is also found by where the user lives. */
const inOtherWords = (facts: readonly FactData[]): string =>
  facts
    .filter(({ ended }) => !ended)
    .map(
      ({ subject, relation, object }) =>
        `${subject === 'user' ? '' : subject} ${relation.replaceAll('_', ' ')} ${object}`,
    )
    .join('. ')

/** Returns the part of a content that is indexed. */
const searched = (content: string): string =>
  content.length * 3 <= softMemoryBytes ? content : Buffer.from(content).subarray(0, softMemoryBytes).toString()
