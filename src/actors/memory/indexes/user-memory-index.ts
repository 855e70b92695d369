import { normalisedName } from '#facts/names.ts'
import type { Row } from '#records/schema.ts'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { vectorOfText } from '#retrieval/vector-bytes.ts'
import { softMemoryBytes } from '#specs/memory-objects.ts'
import type { FactData, MemoryData } from '../kinds.ts'
import { contentKey } from './content-key.ts'
import { type MemoryPlace, placeOf } from './memory-place.ts'

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
  readonly validTo: number | null
  readonly expiresAt: number | null
  readonly usedAt: number | null
  readonly embedded: boolean
  /** Actor of the write that created the memory. */
  readonly receipt: string | null
}

interface KeptEntry extends MemoryEntry {
  /** The content until the first lookup of a duplicate; its `contentKey` from then on. Searches need neither. */
  said: string
}

/** Approximate size of an entry in bytes, without its words and vector. */
const entryBytes = 700

const none: readonly FactData[] = []

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

  /** Memories that not every search may find: those of a session, that expire, or that are no longer valid. */
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
    this.#byKey ??= this.#keyed()
    return this.#byKey.get(key)
  }

  #keyed(): Map<string, string> {
    const byKey = new Map<string, string>()
    for (const entry of this.#entries.values()) {
      entry.said = contentKey(entry.place, entry.said)
      if (entry.validTo === null) byKey.set(entry.said, entry.id)
    }
    return byKey
  }

  /** Yields the memories that have facts with this subject and relation (`factKey`). */
  *about(key: string): Iterable<MemoryEntry> {
    for (const id of this.#byFact.get(key) ?? []) {
      const entry = this.#entries.get(id)
      if (entry !== undefined) yield entry
    }
  }

  /** Adds a stored row, replacing an older version of it. */
  put(row: Row<MemoryData>): void {
    const known = this.#entries.get(row.id)
    if (known !== undefined && known.version >= row.version) return
    if (known !== undefined) this.remove(row.id)
    const { data } = row
    this.revision++
    const embedded = this.embedder !== null && data.embedder === this.embedder && data.vector !== null
    const place = placeOf(data)
    // one object literal: built from spreads, it took a tenth of the time of a first search
    const entry: KeptEntry = {
      id: row.id,
      version: row.version,
      place,
      said: this.#byKey === null ? data.content : contentKey(place, data.content),
      importance: data.importance,
      pinned: data.pinned,
      facts: data.facts.length === 0 ? none : data.facts,
      createdAt: row.created_at,
      observedAt: data.observed_at_ms,
      validFrom: data.valid_from_ms ?? data.observed_at_ms,
      validTo: data.valid_to_ms,
      expiresAt: row.expires_at,
      usedAt: data.used_at_ms,
      embedded,
      receipt: data.receipt,
    }
    this.#entries.set(row.id, entry)
    if (place.scope === 'session' || entry.validTo !== null || entry.expiresAt !== null) this.#special.add(row.id)
    if (entry.validTo === null) this.#byKey?.set(entry.said, entry.id)
    for (const { subject, relation } of entry.facts) this.#ofFact(factKey(subject, relation)).add(entry.id)
    this.passages.add({
      id: row.id,
      text: searched(data.content),
      heading: inOtherWords(data.facts),
      group: data.session_id,
      order: data.observed_at_ms,
      at: data.observed_at_ms,
      speaker: data.speaker,
      vector: embedded && data.vector !== null ? vectorOfText(data.vector) : null,
    })
  }

  remove(id: string): boolean {
    const entry = this.#entries.get(id)
    if (entry === undefined) return false
    this.revision++
    this.#entries.delete(id)
    this.#special.delete(id)
    if (this.#byKey?.get(entry.said) === id) this.#byKey.delete(entry.said)
    for (const { subject, relation } of entry.facts) {
      const key = factKey(subject, relation)
      const ids = this.#byFact.get(key)
      ids?.delete(id)
      if (ids?.size === 0) this.#byFact.delete(key)
    }
    this.passages.remove(id)
    return true
  }

  #ofFact(key: string): Set<string> {
    const known = this.#byFact.get(key)
    if (known !== undefined) return known
    const ids = new Set<string>()
    this.#byFact.set(key, ids)
    return ids
  }
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
