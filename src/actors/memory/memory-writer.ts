import { Pause } from '#retrieval/ranking/pause.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { softMemoryBytes } from '#specs/memory-objects.ts'
import type { JsonObject, RecordStore, StoredRecord } from '#storage/ports.ts'
import { RowTurns } from '../records/row-turns.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import type { EmbeddingQueue, EmbeddingResult } from './embedding/embedding-queue.ts'
import type { MemoryPlace } from './indexes/memory-place.ts'
import { type EndedMemory, endedBy } from './indexes/settled-facts.ts'
import type { UserMemoryIndexes } from './indexes/user-memory-indexes.ts'
import { type FactData, type MemoryData, memories } from './kinds.ts'
import { type DraftMemory, MemoryBatch, type PassedMemory } from './memory-batch.ts'
import type { MemoryLimits } from './memory-limits.ts'
import { type MemoryOwner, ownerKey, ownersScope } from './memory-owner.ts'
import type { MemorySettings } from './memory-settings.ts'
import { screened } from './understanding.ts'

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
  /** Aborted when the write is forgotten before it is stored. */
  readonly signal?: AbortSignal
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
    const { batch, isEmbedded } = await this.alone(owner, () => this.#written(owner, checked, options))
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
   * Runs work that no write of this user in this process overlaps: writes run one after the other, so that each sees the
   * facts of those before it.
   */
  alone<T>(owner: MemoryOwner, work: () => Promise<T>): Promise<T> {
    return this.#turns.take(`${owner.project} ${ownerKey(owner)}`, work)
  }

  /**
   * Returns contents that may be stored.
   *
   * @throws {ServiceError} `memory_refused`, which names the first that may not
   */
  async checked<T extends Pick<NewMemory, 'content' | 'param' | 'facts' | 'byFacts'>>(
    project: string,
    items: readonly T[],
  ): Promise<readonly (T & RedactedContent)[]> {
    const screenedItems: T[] = []
    const pause = new Pause()
    for (const item of items) {
      screenedItems.push({ ...item, content: passed(item), ...(item.facts && { facts: passedFacts(item) }) })
      if (pause.due()) await pause.turn()
    }
    const texts = screenedItems.flatMap(({ content, facts = [] }) => [content, ...facts.flatMap(textsOf)])
    const clean = (await this.#parts.redact(project, texts)).values()
    return screenedItems.map((item) => redactedItem(item, clean))
  }

  async #written(owner: MemoryOwner, checked: readonly PassedMemory[], options: WriteOptions) {
    const { limits, settings, indexes, now } = this.#parts
    options.signal?.throwIfAborted()
    const { retentionDays } = await settings(owner.project)
    const index = await indexes.open(owner)
    const pause = new Pause()
    await index.prepareTwins(pause)
    const batch = new MemoryBatch(index, { owner, options, retentionDays, now: now(), pause })
    for (const item of checked) await batch.add(item)
    if (options.dryRun !== true) {
      await limits.storing(owner.project, batch.drafts.length, () => this.#store(owner, batch))
    }
    return { batch, isEmbedded: index.embedder !== null }
  }

  async #store(owner: MemoryOwner, { drafts, ended }: MemoryBatch): Promise<void> {
    if (drafts.length === 0) return
    const at = this.#parts.now()
    const rows = drafts.map((draft) => rowOf(owner, draft, at))
    await this.#parts.records.insertMany(memories, rows)
    const changed = await Promise.all([...ended].map(([id, end]) => this.#end(owner, id, end)))
    const all = [...rows, ...changed.flatMap((row) => (row === null ? [] : [row]))]
    await this.#parts.indexes.wrote(
      owner,
      all.map(({ id }) => id),
      (index) => index.putAll(all),
    )
  }

  #end(owner: MemoryOwner, id: string, { facts, by }: EndedMemory): Promise<Row<MemoryData> | null> {
    const edit = ({ data }: Row<MemoryData>): MemoryData => endedBy(data, { facts, by })
    return this.#table.change(ownersScope(owner), id, { edit })
  }
}

/** @throws {ServiceError} `memory_refused` */
const passed = ({ content: text, param = 'content' }: Pick<NewMemory, 'content' | 'param'>): string => {
  const { content, refused } = screened(text)
  if (refused !== null) throw new ServiceError('memory_refused', { param, message: refusals[refused] })
  return content
}

/**
 * Returns the facts of a memory that may be stored. Those that were extracted from an exchange are left out otherwise.
 *
 * @throws {ServiceError} `memory_refused` for a fact that the caller gave
 */
const passedFacts = ({ facts = [], byFacts, param = 'content' }: Pick<NewMemory, 'facts' | 'byFacts' | 'param'>) =>
  facts.filter(({ subject, relation, object }, at) => {
    const said = relation.replaceAll('_', ' ')
    // as one statement, and as "password is …", by which secrets are recognised
    const { refused } = screened(`${subject} ${said} ${object}\n${said} is ${object}`)
    if (refused === null || byFacts === true) return refused === null
    const name = param.replace(/content$/, `facts.${at}`)
    throw new ServiceError('memory_refused', { param: name, message: refusals[refused] })
  })

/** Returns the texts of a fact that may contain personal data. */
const textsOf = ({ subject, object, text }: FactData): readonly string[] => [subject, object, text]

/** Returns an item with the next redacted texts: its content, then those of its facts (`textsOf`). */
const redactedItem = <T extends Pick<NewMemory, 'content' | 'facts'>>(
  item: T,
  clean: Iterator<RedactedContent>,
): T & RedactedContent => {
  const kinds = new Set<string>()
  const next = (before: string): string => {
    const { content, redacted }: RedactedContent = clean.next().value ?? { content: before, redacted: [] }
    for (const kind of redacted) kinds.add(kind)
    return content
  }
  const content = next(item.content)
  const facts = item.facts?.map((fact) => ({
    ...fact,
    subject: next(fact.subject),
    object: next(fact.object),
    text: next(fact.text),
  }))
  return { ...item, content, ...(facts && { facts }), redacted: [...kinds] }
}

const refusals = {
  secret: 'The content was not stored because it contains a secret, such as a key or a password.',
  injection: 'The content was not stored because it contains instructions to a model.',
  empty: 'The content is empty.',
} as const

const rowOf = (
  { project, tenant, user }: MemoryOwner,
  { id, data, expiresAt }: DraftMemory,
  at: number,
): Row<MemoryData> => {
  const record: Omit<StoredRecord, 'data'> = {
    ...{ id, project, tenant, user, version: 1, created_at: at, updated_at: at, expires_at: expiresAt },
  }
  return { ...record, data }
}
