import { ServiceError } from '#specs/errors/errors.ts'
import { softMemoryBytes } from '#specs/memory-objects.ts'
import type { JsonObject, RecordStore, StoredRecord } from '#storage/ports.ts'
import { RowTurns } from '../records/row-turns.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { derivedId, newId, timeOfId } from '../runtime/ids.ts'
import type { EmbeddingQueue, EmbeddingResult } from './embedding/embedding-queue.ts'
import { contentKey } from './indexes/content-key.ts'
import type { MemoryPlace } from './indexes/memory-place.ts'
import { closedAll, endOf, settledFacts } from './indexes/settled-facts.ts'
import { factKey, type UserMemoryIndex } from './indexes/user-memory-index.ts'
import type { UserMemoryIndexes } from './indexes/user-memory-indexes.ts'
import { type FactData, type MemoryData, memories } from './kinds.ts'
import type { MemoryLimits } from './memory-limits.ts'
import { type MemoryOwner, ownerKey, ownersScope } from './memory-owner.ts'
import type { MemorySettings } from './memory-settings.ts'
import { factsIn, isSameFact, screened } from './understanding.ts'

export interface MemoryWriterParts {
  readonly records: RecordStore
  readonly now: () => number
  readonly indexes: UserMemoryIndexes
  readonly queue: EmbeddingQueue
  readonly limits: MemoryLimits
  readonly settings: (project: string) => Promise<MemorySettings>
  readonly redact: RedactContents
}

/** Replaces the personal data that a project redacts; returns the contents in the same order. */
export type RedactContents = (project: string, contents: readonly string[]) => Promise<readonly RedactedContent[]>

/** A redacted content, and the kinds of personal data that were replaced in it. */
export interface RedactedContent {
  readonly content: string
  readonly redacted: readonly string[]
}

/** A memory to write; times in ms since the epoch. */
export interface NewMemory {
  readonly content: string
  readonly place: MemoryPlace
  readonly importance?: number | undefined
  readonly pinned?: boolean | undefined
  readonly metadata?: JsonObject | undefined
  readonly observedAt?: number | undefined
  readonly validFrom?: number | undefined
  readonly validTo?: number | undefined
  /** Facts that are stored as given, in addition to those that rules find in the content. */
  readonly facts?: readonly FactData[] | undefined
  /** The content only states `facts`: rules do not read it, and a memory with the same facts is a duplicate. */
  readonly byFacts?: boolean
  readonly speaker?: string | undefined
  /** Name of the field in an error. */
  readonly param?: string | undefined
}

/** Options of a write. */
export interface WriteOptions {
  /** Origin of the memories: `write`, `remember`, `chat` … */
  readonly source: string
  /** 26 characters of an id from which ids are derived, so that a repetition finds its memories; null: new ids. */
  readonly seed: string | null
  /** Actor of the write; null when there is none. */
  readonly receipt?: string | null
  /** Resolve only once the memories have their vectors. */
  readonly wait?: boolean | undefined
  readonly dryRun?: boolean | undefined
  /** The operation has already been counted, as for an effect, which may run more than once. */
  readonly counted?: boolean
}

/** Result of writing one memory. */
export interface WrittenMemory {
  readonly id: string
  readonly duplicate: boolean
  readonly redacted: readonly string[]
  readonly superseded: readonly string[]
}

/** Result of a write. */
export interface WriteResult extends EmbeddingResult {
  readonly memories: readonly WrittenMemory[]
  readonly embedding: 'done' | 'pending' | 'none'
  readonly warnings: readonly string[]
}

interface Draft {
  readonly id: string
  readonly key: string
  readonly data: MemoryData
  readonly expiresAt: number | null
}

const dayMs = 86_400_000
const free: EmbeddingResult = { costUsd: 0, model: null, provider: null }

/**
 * Writes memories: screens and redacts them, compares them with the known ones, stores them at once, and adds them to
 * the index, where they can be found by their words immediately.
 */
export class MemoryWriter {
  readonly #parts: MemoryWriterParts
  readonly #table: Table<MemoryData>
  readonly #turns = new RowTurns()

  constructor(parts: MemoryWriterParts) {
    this.#parts = parts
    this.#table = new Table(parts.records, memories, parts.now)
  }

  /** @throws {ServiceError} `memory_refused`, `memory_quota_exceeded`, `memory_ops_quota_exceeded` */
  async write(owner: MemoryOwner, items: readonly NewMemory[], options: WriteOptions): Promise<WriteResult> {
    const checked = await this.checked(owner.project, items)
    if (options.counted !== true && options.dryRun !== true) await this.#parts.limits.operation(owner, 'writes')
    const turn = `${owner.project} ${ownerKey(owner)}`
    // writes of one user run one after the other, so that each sees the facts of those before it
    const { batch, isEmbedded } = await this.#turns.take(turn, () => this.#written(owner, checked, options))
    const tooLong = checked.some(({ content }) => Buffer.byteLength(content) > softMemoryBytes)
    const warnings = tooLong ? ['content_over_soft_cap'] : []
    const memories = batch.written
    if (!isEmbedded) return { memories, embedding: 'none', warnings, ...free }
    if (options.dryRun === true) return { memories, embedding: 'pending', warnings, ...free }
    const ids = batch.drafts.map(({ id }) => id)
    const embedded = this.#parts.queue.add(owner, ids)
    if (options.wait !== true) return { memories, embedding: 'pending', warnings, ...free }
    const cost = await embedded
    const done = ids.every((id) => this.#parts.indexes.known(owner)?.get(id)?.embedded ?? true)
    return { memories, embedding: done ? 'done' : 'pending', warnings, ...cost }
  }

  /**
   * Returns contents that may be stored.
   *
   * @throws {ServiceError} `memory_refused`, which names the first that may not
   */
  async checked<T extends Pick<NewMemory, 'content' | 'param'>>(
    project: string,
    items: readonly T[],
  ): Promise<readonly (T & RedactedContent)[]> {
    const screenedItems = items.map((item) => ({ ...item, content: passed(item) }))
    const clean = await this.#parts.redact(
      project,
      screenedItems.map(({ content }) => content),
    )
    return screenedItems.map((item, at) => ({ ...item, redacted: [], ...clean[at] }))
  }

  async #written(owner: MemoryOwner, checked: readonly Passed[], options: WriteOptions) {
    const { limits, settings, indexes, now } = this.#parts
    const { retentionDays } = await settings(owner.project)
    const index = await indexes.open(owner)
    const batch = new Batch(index, { owner, options, retentionDays, now: now() })
    for (const item of checked) batch.add(item)
    if (options.dryRun !== true) {
      await limits.storing(owner.project, batch.drafts.length, () => this.#store(owner, batch))
    }
    return { batch, isEmbedded: index.embedder !== null }
  }

  async #store(owner: MemoryOwner, { drafts, ended }: Batch): Promise<void> {
    if (drafts.length === 0) return
    const at = this.#parts.now()
    const rows = drafts.map((draft) => rowOf(owner, draft, at))
    await this.#parts.records.insertMany(memories, rows)
    const changed = await Promise.all([...ended].map(([id, end]) => this.#end(owner, id, end)))
    const all = [...rows, ...changed.flatMap((row) => (row === null ? [] : [row]))]
    await this.#parts.indexes.wrote(
      owner,
      all.map(({ id }) => id),
      (index) => {
        for (const row of all) index.put(row)
      },
    )
  }

  #end(owner: MemoryOwner, id: string, { facts, by }: Ended): Promise<Row<MemoryData> | null> {
    const edit = ({ data }: Row<MemoryData>): MemoryData => {
      const end = data.valid_to_ms ?? endOf(data, facts)
      return { ...data, facts, valid_to_ms: end, superseded_by: end === null ? data.superseded_by : by }
    }
    return this.#table.change(ownersScope(owner), id, { edit })
  }
}

interface Ended {
  readonly facts: readonly FactData[]
  readonly by: string
}

type Passed = NewMemory & { readonly redacted: readonly string[] }

/** @throws {ServiceError} `memory_refused` */
const passed = ({ content: text, param = 'content' }: Pick<NewMemory, 'content' | 'param'>): string => {
  const { content, refused } = screened(text)
  if (refused !== null) throw new ServiceError('memory_refused', { param, message: refusals[refused] })
  return content
}

const refusals = {
  secret: 'The content was not stored because it contains a secret, such as a key or a password.',
  injection: 'The content was not stored because it contains instructions to a model.',
  empty: 'The content is empty.',
} as const

interface BatchParts {
  readonly owner: MemoryOwner
  readonly options: WriteOptions
  readonly retentionDays: MemorySettings['retentionDays']
  readonly now: number
}

/** The memories of one write, each compared with the stored ones and with those before it. */
class Batch {
  readonly drafts: Draft[] = []
  readonly written: WrittenMemory[] = []
  readonly ended = new Map<string, Ended>()
  readonly #index: UserMemoryIndex
  readonly #parts: BatchParts
  readonly #keys = new Map<string, string>()

  constructor(index: UserMemoryIndex, parts: BatchParts) {
    this.#index = index
    this.#parts = parts
  }

  add(item: Passed): void {
    const key = contentKey(item.place, item.content)
    const id = this.#newId()
    const said = this.#factsOf(item)
    const twin = this.#keys.get(key) ?? this.#index.twin(key) ?? (item.byFacts === true ? this.#sayer(said) : undefined)
    if (twin !== undefined && twin !== id) {
      this.written.push({ id: twin, duplicate: true, redacted: item.redacted, superseded: [] })
      return
    }
    const settled = settledFacts(this.#index, said)
    const superseded = [...settled.ended.keys()].filter((known) => known !== id)
    for (const known of superseded) this.ended.set(known, { facts: settled.ended.get(known) ?? [], by: id })
    const facts = this.#besideDrafts(settled.facts)
    this.#keys.set(key, id)
    this.drafts.push({ id, key, data: this.#dataOf(item, facts), expiresAt: this.#expiryOf(item) })
    this.written.push({ id, duplicate: false, redacted: item.redacted, superseded })
  }

  /** Returns the id of a memory that already states all of these facts. */
  #sayer(facts: readonly FactData[]): string | undefined {
    const [first] = facts
    if (first === undefined) return undefined
    for (const { id, facts: theirs } of this.#index.about(factKey(first.subject, first.relation))) {
      const held = theirs.filter(({ valid_to_ms, ended }) => valid_to_ms === null || ended)
      if (facts.every((fact) => held.some((each) => isSameFact(each, fact)))) return id
    }
    return undefined
  }

  /** Reconciles facts with those of earlier memories of this write. */
  #besideDrafts(facts: readonly FactData[]): readonly FactData[] {
    let settled = facts
    for (const [at, draft] of this.drafts.entries()) {
      const theirs = closedAll(draft.data.facts, settled)
      settled = closedAll(settled, theirs)
      if (theirs === draft.data.facts) continue
      const valid_to_ms = draft.data.valid_to_ms ?? endOf(draft.data, theirs)
      this.drafts[at] = { ...draft, data: { ...draft.data, facts: theirs, valid_to_ms } }
    }
    return settled
  }

  #newId(): string {
    const { seed } = this.#parts.options
    if (seed === null) return newId('mem')
    return derivedId('mem', timeOfId(`mem_${seed}`) ?? 1, `${seed} ${this.written.length}`)
  }

  #factsOf(item: Passed): readonly FactData[] {
    const observedAt = item.observedAt ?? this.#parts.now
    const given = item.facts ?? []
    if (item.byFacts === true) return given
    const found = factsIn(item.content, { observedAt, speaker: item.speaker ?? null })
    return [...given, ...found.filter((fact) => !given.some((each) => isSameFact(each, fact)))]
  }

  #expiryOf({ place }: Passed): number | null {
    const days = this.#parts.retentionDays[place.scope]
    return days === null ? null : this.#parts.now + days * dayMs
  }

  #dataOf(item: Passed, facts: readonly FactData[]): MemoryData {
    const { owner, options, now } = this.#parts
    return {
      owner: ownerKey(owner),
      content: item.content,
      scope: item.place.scope,
      session_id: item.place.session,
      namespace: item.place.namespace,
      importance: item.importance ?? 0.5,
      pinned: item.pinned ?? false,
      metadata: item.metadata ?? {},
      source: options.source,
      speaker: item.speaker ?? null,
      receipt: options.receipt ?? null,
      redacted: item.redacted,
      facts,
      observed_at_ms: item.observedAt ?? now,
      valid_from_ms: item.validFrom ?? null,
      valid_to_ms: item.validTo ?? endOf(item, facts),
      superseded_by: null,
      ...{ embedder: null, vector: null, used_at_ms: null, versions: [] },
    }
  }
}

const rowOf = ({ project, tenant, user }: MemoryOwner, { id, data, expiresAt }: Draft, at: number): Row<MemoryData> => {
  const record: Omit<StoredRecord, 'data'> = {
    ...{ id, project, tenant, user, version: 1, created_at: at, updated_at: at, expires_at: expiresAt },
  }
  return { ...record, data }
}
