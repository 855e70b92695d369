import type { Logger } from 'pino'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { textOfVector } from '#retrieval/index.ts'
import { type Clock, pause } from '#runtime/index.ts'
import { FairSemaphore } from '#src/concurrency/fair-semaphore.ts'
import type { RecordStore } from '#storage/index.ts'
import { holdingContent } from '../indexes/superseded-parts.ts'
import { type MemoryData, memories } from '../kinds.ts'
import { type MemoryOwner, ownersScope } from '../memory-owner.ts'
import type { EmbedderOf } from './embedders.ts'

export interface EmbeddingQueueParts {
  readonly records: RecordStore
  readonly clock: Clock
  readonly embedderOf: EmbedderOf
  /** Called with the rows whose vectors have just been stored. */
  readonly embedded: (owner: MemoryOwner, rows: readonly Row<MemoryData>[]) => Promise<void>
  readonly log: Logger
}

interface Job {
  readonly owner: MemoryOwner
  readonly ids: readonly string[]
}

/** Cost of embedding some memories, and the model that did it. */
export interface EmbeddingResult {
  readonly costUsd: number
  readonly model: string | null
  readonly provider: string | null
}

const batchSize = 32
/** Jobs of all projects and of one that embed at the same time: the embedder of a project may hang. */
const atOnce = [8, 2] as const
const waitsMs = [250, 1_000, 5_000, 30_000]
const nothing: EmbeddingResult = { costUsd: 0, model: null, provider: null }

/**
 * Maximum number of jobs in progress, each of at most 32 memories. Memories beyond it are embedded in the next embedding
 * round, or when the memories of their user are next read into an index.
 */
export const maxWaitingJobs = 10_000

/**
 * Embeds memories in the background, after the requests that wrote them. Memories left without a vector by a crash, and
 * those embedded by another embedder, are found when the memories of their user are next read into an index.
 */
export class EmbeddingQueue {
  readonly #parts: EmbeddingQueueParts
  readonly #table: Table<MemoryData>
  readonly #turns = new FairSemaphore<string>({ path: (project) => [project], running: atOnce })
  readonly #closing = new AbortController()
  #jobs = 0

  constructor(parts: EmbeddingQueueParts) {
    this.#parts = parts
    this.#table = new Table(parts.records, memories, parts.clock.now)
  }

  /** Resolves when the memories have their vectors, or when the attempts to embed them have failed. */
  add(owner: MemoryOwner, ids: readonly string[]): Promise<EmbeddingResult> {
    if (ids.length === 0 || this.#closing.signal.aborted || this.#jobs >= maxWaitingJobs)
      return Promise.resolve(nothing)
    const results: Promise<EmbeddingResult>[] = []
    for (let first = 0; first < ids.length; first += batchSize) {
      const job = { owner, ids: ids.slice(first, first + batchSize) }
      this.#jobs++
      results.push(this.#run(job).finally(() => this.#jobs--))
    }
    return Promise.all(results).then((all) => all.reduce(together, nothing))
  }

  /** Drops the waiting jobs and starts no more. */
  close(): void {
    this.#closing.abort()
  }

  /** Jobs that wait for their next attempt hold up no others: an embedder fails for one project, perhaps for hours. */
  async #run(job: Job): Promise<EmbeddingResult> {
    const { clock, log } = this.#parts
    const { signal } = this.#closing
    for (const waitMs of [...waitsMs, null]) {
      try {
        return await this.#turns.run(job.owner.project, () => this.#embed(job), signal)
      } catch (error) {
        if (signal.aborted) break
        if (waitMs === null) log.warn({ err: error, memories: job.ids.length }, 'memories have no vectors yet')
        else await pause(clock, waitMs, signal)
      }
    }
    return nothing
  }

  async #embed({ owner, ids }: Job): Promise<EmbeddingResult> {
    const embedder = await this.#parts.embedderOf(owner.project)
    if (embedder === null) return nothing
    const found = await Promise.all(ids.map((id) => this.#table.get(ownersScope(owner), id)))
    const rows = found.flatMap((row) => (row === null || row.data.embedder === embedder.id ? [] : [row]))
    if (rows.length === 0) return nothing
    const { vectors, ...cost } = await embedder.embed(
      rows.map(({ data }) => spokenText(data)),
      'passage',
      owner,
    )
    const stored = await Promise.all(
      rows.map((row, at) => this.#store(row, { embedder: embedder.id, vector: vectors[at] })),
    )
    const embedded = stored.flatMap((row) => (row === null ? [] : [row]))
    await this.#parts.embedded(owner, embedded)
    return cost
  }

  /** Stores a vector; null when the memory was removed or rewritten in the meantime. */
  async #store(
    { id, project, tenant, user, data: read }: Row<MemoryData>,
    { embedder, vector }: { readonly embedder: string; readonly vector: Float32Array | undefined },
  ): Promise<Row<MemoryData> | null> {
    if (vector === undefined) return null
    const text = textOfVector(vector)
    const edit = ({ data }: Row<MemoryData>): MemoryData | null =>
      holdingContent(data) === holdingContent(read) ? { ...data, embedder, vector: text } : null
    return this.#table.change(ownersScope({ project, tenant, user: user ?? '' }), id, { edit })
  }
}

/** The text that is embedded: the content, with its speaker where there is one. */
const spokenText = (data: MemoryData): string =>
  data.speaker === null ? holdingContent(data) : `${data.speaker}: ${holdingContent(data)}`

const together = (one: EmbeddingResult, other: EmbeddingResult): EmbeddingResult => ({
  costUsd: one.costUsd + other.costUsd,
  model: other.model ?? one.model,
  provider: other.provider ?? one.provider,
})
