import { normalisedName } from '#facts/names.ts'
import type { Row } from '#records/schema.ts'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { vectorOfText } from '#retrieval/vector-bytes.ts'
import { softMemoryBytes } from '#specs/memory-objects.ts'
import type { FactData, MemoryData } from '../kinds.ts'
import { contentKey } from './content-key.ts'
import { type MemoryPlace, placeOf } from './memory-place.ts'

/** What an index knows of a memory beside its words. */
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
  /** Actor of the write that made it. */
  readonly receipt: string | null
}

interface KeptEntry extends MemoryEntry {
  /** Its content until a write first looks for a twin, from then on its `contentKey`: a search needs neither. */
  said: string
}

/** An entry costs about this much beside its words and vector, in bytes. */
const entryBytes = 700

const none: readonly FactData[] = []

/** The memories of one user in memory: by their words and vectors, by what they say, and by their facts. */
export class ScopeIndex {
  /** The embedder whose vectors it holds; null for none. */
  readonly embedder: string | null
  readonly passages = new PassageIndex('memory')
  /** Rises with every change. */
  revision = 0
  /** Changes of other nodes that it has taken in. */
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

  /** About how much memory it takes. */
  get bytes(): number {
    return this.passages.bytes + this.#entries.size * entryBytes
  }

  get hasFacts(): boolean {
    return this.#byFact.size > 0
  }

  /** Memories that not every search sees: those of a session, those that expire, and those that hold no longer. */
  get special(): ReadonlySet<string> {
    return this.#special
  }

  get(id: string): MemoryEntry | undefined {
    return this.#entries.get(id)
  }

  entries(): Iterable<MemoryEntry> {
    return this.#entries.values()
  }

  /** The memory at this place that says the same and still holds. */
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

  /** Memories with facts of this subject and relation (`factKey`). */
  *about(key: string): Iterable<MemoryEntry> {
    for (const id of this.#byFact.get(key) ?? []) {
      const entry = this.#entries.get(id)
      if (entry !== undefined) yield entry
    }
  }

  /** Takes in a row as it is stored, in place of an older version of it. */
  put(row: Row<MemoryData>): void {
    const known = this.#entries.get(row.id)
    if (known !== undefined && known.version >= row.version) return
    if (known !== undefined) this.remove(row.id)
    const { data } = row
    this.revision++
    const embedded = this.embedder !== null && data.embedder === this.embedder && data.vector !== null
    const place = placeOf(data)
    // one literal: written as spreads it took a tenth of a first search
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

/** What facts that may contradict each other have in common. */
export const factKey = (subject: string, relation: string): string => `${normalisedName(subject)} ${relation}`

/** Facts in words that questions have: "I moved to Oslo" is found by where one lives, too. */
const inOtherWords = (facts: readonly FactData[]): string =>
  facts
    .filter(({ ended }) => !ended)
    .map(
      ({ subject, relation, object }) =>
        `${subject === 'user' ? '' : subject} ${relation.replaceAll('_', ' ')} ${object}`,
    )
    .join('. ')

/** The part of a content that is searched. */
const searched = (content: string): string =>
  content.length * 3 <= softMemoryBytes ? content : Buffer.from(content).subarray(0, softMemoryBytes).toString()
