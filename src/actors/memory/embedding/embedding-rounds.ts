import type { Logger } from 'pino'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { type Clock, pause } from '#runtime/index.ts'
import { Rounds } from '#runtime/internal.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { type MemoryData, type MemoryVectorsData, memories } from '../kinds.ts'
import { ownerKey } from '../memory-owner.ts'
import { ownerOfRow } from '../memory-row.ts'
import type { EmbeddedProjects } from './embedded-projects.ts'
import type { EmbedderOf } from './embedders.ts'
import type { EmbeddingQueue } from './embedding-queue.ts'

export interface EmbeddingRoundsParts {
  readonly records: RecordStore
  readonly clock: Clock
  readonly projects: EmbeddedProjects
  readonly embedderOf: EmbedderOf
  readonly queue: Pick<EmbeddingQueue, 'add'>
  /** Whether this process embeds the memories of a project: exactly one process does. */
  readonly isOurs: (project: string) => boolean
  readonly log: Logger
}

const everyMs = 60_000
/** Delay of the first round, so that a starting process settles first. */
const firstMs = 1_000
/** Age from which a memory is considered; a newer one is still in the queue of the process that wrote it. */
const settledMs = 10_000
const pageSize = 64
/** Projects that are visited at the same time. */
const maxConcurrent = 16
/** After this many failed rounds, a page is skipped: its memories are found by their words only. */
const maxAttempts = 3

/**
 * Gives every memory of every project its vector from the project's embedder, whether or not it is searched: after the
 * embedder changed, and after a crash that lost the queue. Progress is stored after each page.
 */
export class EmbeddingRounds {
  readonly #parts: EmbeddingRoundsParts
  readonly #table: Table<MemoryData>
  readonly #tries = new Map<string, number>()
  readonly #rounds: Rounds
  /** Projects in progress. */
  readonly #working = new Map<string, Promise<void>>()
  /** Whether this round skipped memories because they were too new. */
  #hasFresh = false

  constructor(parts: EmbeddingRoundsParts) {
    this.#parts = parts
    this.#rounds = new Rounds({
      clock: parts.clock,
      round: () => this.round(),
      everyMs: () => (this.#hasFresh || this.#working.size > 0 ? settledMs : everyMs),
    })
    this.#table = new Table(parts.records, memories, parts.clock.now)
  }

  start(): void {
    this.#rounds.start(firstMs)
  }

  /** Stops once the current pages are done. */
  async stop(): Promise<void> {
    await Promise.all([this.#rounds.stop(), ...this.#working.values()])
  }

  /**
   * Visits every project that has memories, several at a time: the embedder of one may hang, so the round ends without it.
   * An error is left to the next round.
   */
  async round(): Promise<void> {
    const { projects, isOurs, clock, log } = this.#parts
    this.#hasFresh = false
    try {
      for (let after: string | undefined; !this.#rounds.stopped; ) {
        const page = await projects.page(after, pageSize)
        for (const { data } of page) if (isOurs(data.project)) await this.#begin(data)
        after = page.at(-1)?.id
        if (page.length < pageSize) break
      }
    } catch (error) {
      log.warn({ err: error }, 'vectors of memories not looked after, trying again')
    }
    const done = new AbortController()
    void Promise.all(this.#working.values()).then(() => done.abort())
    if (this.#working.size > 0) await pause(clock, settledMs, done.signal)
  }

  /** Starts with a project once few others are in progress. */
  async #begin(data: MemoryVectorsData): Promise<void> {
    const { project } = data
    if (this.#working.has(project)) return
    while (this.#working.size >= maxConcurrent) await Promise.race(this.#working.values())
    if (this.#rounds.stopped) return
    const failed = (err: unknown) =>
      this.#parts.log.warn({ err, project }, 'vectors of memories not looked after, trying again')
    const work = this.#embed(data)
      .catch(failed)
      .finally(() => this.#working.delete(project))
    this.#working.set(project, work)
  }

  async #embed({ project, embedder, after: reached }: MemoryVectorsData): Promise<void> {
    const { projects, embedderOf } = this.#parts
    const wanted = (await embedderOf(project))?.id ?? null
    if (wanted === null) return
    let after = embedder === wanted ? reached : null
    while (!this.#rounds.stopped) {
      const page = await this.#settled(project, after)
      const last = page.at(-1)
      if (last === undefined || !(await this.#isEmbedded(page, wanted))) return
      after = last.id
      await projects.reached(project, wanted, after)
    }
  }

  async #settled(project: string, after: string | null): Promise<readonly Row<MemoryData>[]> {
    const rows = await this.#table.list(projectScope(project), {
      ...{ limit: pageSize, ascending: true },
      ...(after !== null && { after }),
    })
    const newest = this.#parts.clock.now() - settledMs
    const fresh = rows.findIndex(({ created_at }) => created_at > newest)
    if (fresh === -1) return rows
    this.#hasFresh = true
    return rows.slice(0, fresh)
  }

  /** Embeds memories that have no vector from this embedder; false when some failed and the page is to be retried. */
  async #isEmbedded(page: readonly Row<MemoryData>[], embedder: string): Promise<boolean> {
    const stale = page.filter(({ data }) => data.embedder !== embedder)
    if (stale.length === 0) return true
    const [first] = stale
    const place = `${first?.project} ${embedder} ${first?.id}`
    for (const rows of Map.groupBy(stale, (row) => ownerKey(ownerOfRow(row))).values()) {
      const [row] = rows
      if (row !== undefined) await this.#parts.queue.add(ownerOfRow(row), idsOf(rows))
    }
    const now = await Promise.all(stale.map(({ project, id }) => this.#table.get(projectScope(project), id)))
    if (now.every((row) => row === null || row.data.embedder === embedder)) {
      this.#tries.delete(place)
      return true
    }
    const tries = (this.#tries.get(place) ?? 0) + 1
    this.#tries.set(place, tries)
    if (tries < maxAttempts) return false
    this.#tries.delete(place)
    return true
  }
}

const idsOf = (rows: readonly Row<MemoryData>[]): readonly string[] => rows.map(({ id }) => id)
