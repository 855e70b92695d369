import { statementOf } from '#facts/index.ts'
import { Pause } from '#retrieval/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { softMemoryBytes } from '#specs/memory-objects.ts'
import type { JsonObject, StoredRecord } from '#storage/index.ts'
import { RowTurns } from '../records/row-turns.ts'
import type { Row } from '../records/schema.ts'
import type { Clock } from '../runtime/index.ts'
import type { EmbeddingQueue, EmbeddingResult } from './embedding/embedding-queue.ts'
import type { Exported } from './import/exported-memory.ts'
import type { MemoryPlace } from './indexes/memory-place.ts'
import type { UserMemoryIndex } from './indexes/user-memory-index.ts'
import type { UserMemoryIndexes } from './indexes/user-memory-indexes.ts'
import type { JudgeContents } from './judge-contents.ts'
import type { FactData, MemoryData, MemoryFlag } from './kinds.ts'
import { type BatchParts, type DraftMemory, MemoryBatch, type PassedMemory } from './memory-batch.ts'
import type { MemoryLimits } from './memory-limits.ts'
import { type MemoryOwner, ownerKey } from './memory-owner.ts'
import type { MemorySettings } from './memory-settings.ts'
import { factOf, type Screened, screened } from './understanding.ts'
import type { DecidedWrites } from './writes/decided-writes.ts'
import type { UpdatedMemories } from './writes/updated-memories.ts'

export interface MemoryWriterParts {
  readonly now: () => number
  readonly clock: Pick<Clock, 'steady'>
  readonly decided: Pick<DecidedWrites, 'carryOut' | 'again'>
  readonly updated: Pick<UpdatedMemories, 'of'>
  readonly indexes: UserMemoryIndexes
  readonly queue: EmbeddingQueue
  readonly limits: MemoryLimits
  readonly settings: (project: string) => Promise<MemorySettings>
  readonly redact: RedactContents
  readonly judge: JudgeContents
}

/** Replaces the personal data that a project redacts; returns the contents in the same order. */
export type RedactContents = (project: string, contents: readonly string[]) => Promise<readonly RedactedContent[]>

/** A redacted content, and the kinds of personal data that were replaced in it. */
interface RedactedContent {
  readonly content: string
  readonly redacted: readonly string[]
}

/** What the screening and the redaction found in a content. */
export interface Checked extends RedactedContent, Pick<Screened, 'flags'> {}

/** Items of a write: those that may be stored, and by their place the refusals of the others. */
export interface SortedItems<T> {
  readonly passed: readonly (T & Checked)[]
  readonly refused: ReadonlyMap<number, ServiceError>
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
  readonly exported?: Exported | undefined
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
  /** Items that may not be stored have a refusal each; the others are stored. Otherwise one refuses all. */
  readonly each?: boolean
  /** The operation has already been counted, as for an effect, which may run more than once. */
  readonly counted?: boolean
  /** Aborted when the write is forgotten before it is stored. */
  readonly signal?: AbortSignal
}

/** Result of writing one memory. */
export interface WrittenMemory {
  /** Refusal of the memory, which was not stored. */
  readonly error?: ServiceError
  readonly id: string
  readonly duplicate: boolean
  readonly redacted: readonly string[]
  readonly flags: readonly MemoryFlag[]
  readonly superseded: readonly string[]
}

/** Result of a write. */
export interface WriteResult extends EmbeddingResult {
  readonly memories: readonly WrittenMemory[]
  readonly embedding: 'done' | 'pending' | 'none'
  readonly warnings: readonly string[]
}

/** Number of memories of one write that the sentence model compares with older ones, and time in ms until it compares no more. */
const [maxJudged, maxJudgedMs] = [64, 8_000]

/** Number of times a write is decided anew because other nodes' writes of the same user came first. */
const maxAttempts = 200

const free: EmbeddingResult = { costUsd: 0, model: null, provider: null }

/**
 * Writes memories: screens and redacts them, compares them with the known ones, stores them at once, and adds them to
 * the index, where they can be found by their words immediately.
 */
export class MemoryWriter {
  readonly #parts: MemoryWriterParts
  readonly #turns = new RowTurns()

  constructor(parts: MemoryWriterParts) {
    this.#parts = parts
  }

  /** @throws {ServiceError} `memory_refused`, `memory_quota_exceeded`, `memory_ops_quota_exceeded` */
  async write(owner: MemoryOwner, items: readonly NewMemory[], options: WriteOptions): Promise<WriteResult> {
    const { passed: checked, refused } = await this.sorted(owner.project, items)
    const [first] = refused.values()
    if (first !== undefined && (options.each !== true || checked.length === 0)) throw first
    if (options.counted !== true && options.dryRun !== true) await this.#parts.limits.operation(owner, 'writes')
    const { batch, isEmbedded } = await this.alone(owner, () => this.#written(owner, checked, options))
    const tooLong = checked.some(({ content }) => Buffer.byteLength(content) > softMemoryBytes)
    const warnings = tooLong ? ['content_over_soft_cap'] : []
    const memories = withRefusals(batch.written, refused)
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
  ): Promise<readonly (T & Checked)[]> {
    const { passed, refused } = await this.sorted(project, items)
    const [first] = refused.values()
    if (first !== undefined) throw first
    return passed
  }

  /** Returns the contents that may be stored, and by their place the refusals of the others. */
  async sorted<T extends Pick<NewMemory, 'content' | 'param' | 'facts' | 'byFacts'>>(
    project: string,
    items: readonly T[],
  ): Promise<SortedItems<T>> {
    const screenedItems: (T & Pick<Screened, 'flags'>)[] = []
    const refused = new Map<number, ServiceError>()
    const pause = new Pause()
    for (const [place, item] of items.entries()) {
      const found = passed(item)
      if (found instanceof ServiceError) refused.set(place, found)
      else screenedItems.push({ ...item, ...found })
      if (pause.due()) await pause.turn()
    }
    const marked = await this.#judged(screenedItems)
    const texts = marked.flatMap(({ content, facts = [] }) => [content, ...facts.flatMap(textsOf)])
    const clean = (await this.#parts.redact(project, texts)).values()
    return { passed: marked.map((item) => redactedItem(item, clean)), refused }
  }

  /** Returns items with those flagged that the rules passed, but whose meaning is that of instructions to a model. */
  async #judged<T extends Pick<NewMemory, 'content' | 'facts' | 'byFacts'> & Pick<Screened, 'flags'>>(
    items: readonly T[],
  ): Promise<readonly T[]> {
    const unflagged = items.flatMap((item, place) => (item.flags.length === 0 ? [place] : []))
    const instructing = await this.#parts.judge(unflagged.map((place) => statementIn(items[place])))
    const places = new Set([...instructing].map((at) => unflagged[at]))
    return items.map((item, place) => (places.has(place) ? { ...item, flags: ['instructions'] } : item))
  }

  async #written(owner: MemoryOwner, checked: readonly PassedMemory[], options: WriteOptions) {
    const { settings, indexes } = this.#parts
    const { retentionDays } = await settings(owner.project)
    for (let tries = 0; ; tries++) {
      options.signal?.throwIfAborted()
      const index = await indexes.open(owner)
      // a search may read later changes into it meanwhile
      const { seen } = index
      const batch = await this.#decided(index, checked, { owner, options, retentionDays })
      const isEmbedded = index.embedder !== null
      if (options.dryRun === true || batch.drafts.length === 0) return { batch, isEmbedded }
      if (await this.#stored(owner, seen, batch)) return { batch, isEmbedded }
      // another node's write came first: what is known has changed
      if (tries === maxAttempts) throw new ServiceError('version_conflict')
      await this.#parts.decided.again(tries)
    }
  }

  async #decided(
    index: UserMemoryIndex,
    checked: readonly PassedMemory[],
    parts: Omit<BatchParts, 'now' | 'pause'>,
  ): Promise<MemoryBatch> {
    const pause = new Pause()
    await index.prepareTwins(pause)
    const batch = new MemoryBatch(index, { ...parts, now: this.#parts.now(), pause })
    const { updated, clock } = this.#parts
    const until = clock.steady() + maxJudgedMs
    for (const [place, item] of checked.entries()) {
      const isJudged = place < maxJudged && clock.steady() < until
      await batch.add(item, () => updated.of(parts.owner, index, { item, isJudged }))
    }
    batch.restore(checked)
    return batch
  }

  /** @returns false when another write came first. */
  async #stored(owner: MemoryOwner, seen: number, { drafts, ended }: MemoryBatch): Promise<boolean> {
    const { limits, decided, indexes, now } = this.#parts
    const at = now()
    const rows = drafts.map((draft) => rowOf(owner, draft, at))
    let isStored = false
    await limits.storing(owner.project, drafts.length, async () => {
      const done = await decided.carryOut(owner, seen, { rows, ended })
      if (done === null) return
      isStored = true
      await indexes.announced(owner, done.version, (index) => index.putAll(done.rows))
    })
    return isStored
  }
}

/** Returns one result per item of the request, in order. */
const withRefusals = (
  written: readonly WrittenMemory[],
  refused: ReadonlyMap<number, ServiceError>,
): readonly WrittenMemory[] => {
  const rest = written.values()
  return Array.from({ length: written.length + refused.size }, (_, place) => {
    const error = refused.get(place)
    const none = { id: '', duplicate: false, redacted: [], flags: [], superseded: [] }
    return error === undefined ? (rest.next().value ?? none) : { ...none, error }
  })
}

/** Returns the fields of an item that change when it is screened, or its refusal. */
const passed = (
  item: Pick<NewMemory, 'content' | 'param' | 'facts' | 'byFacts'>,
): (Pick<Screened, 'content' | 'flags'> & Pick<NewMemory, 'facts'>) | ServiceError => {
  const { content: text, facts, byFacts, param = 'content' } = item
  const { content, refused, flags } = screened(text)
  if (refused !== null) return new ServiceError('memory_refused', { param, message: refusals[refused] })
  if (facts === undefined) return { content, flags }
  const judged = facts.map((fact) => ({ fact, ...screenedFact(fact) }))
  const place = judged.findIndex((each) => each.refused !== null)
  const bad = judged[place]
  // a fact that was extracted from an exchange is left out instead
  if (bad !== undefined && bad.refused !== null && byFacts !== true) {
    const name = param.replace(/content$/, `facts.${place}`)
    return new ServiceError('memory_refused', { param: name, message: refusals[bad.refused] })
  }
  const kept = judged.filter((each) => each.refused === null)
  return {
    content,
    facts: kept.map(({ fact }) => fact),
    flags: [...new Set([flags, ...kept.map((each) => each.flags)].flat())],
  }
}

/** Screens a fact: as one statement, and as "password is …", by which secrets are recognised. */
const screenedFact = ({ subject, relation, object }: FactData): Screened => {
  const relationText = relation.replaceAll('_', ' ')
  return screened(`${subject} ${relationText} ${object}\n${relationText} is ${object}`)
}

/** Returns what a model would read of an item: its content, and the facts that it does not state. */
const statementIn = (item: Pick<NewMemory, 'content' | 'facts' | 'byFacts'> | undefined): string => {
  const facts = item?.byFacts === true ? [] : (item?.facts ?? [])
  return [item?.content ?? '', ...facts.map((fact) => statementOf(factOf(fact)))].join('\n')
}

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
