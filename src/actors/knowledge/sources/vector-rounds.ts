import type { EmbeddedProjectList } from '#actors/capability/embedder-port.ts'
import type { Services } from '#actors/capability/services.ts'
import { Table } from '#records/table.ts'
import { Rounds } from '#runtime/internal.ts'
import { projectScope } from '#storage/index.ts'
import { sourceRows } from '../kinds.ts'
import type { SourceRow } from '../schema.ts'
import { lacksVectors } from './vector-store.ts'

export interface VectorRoundsParts extends Pick<Services, 'clock' | 'log' | 'records'> {
  readonly projects: EmbeddedProjectList
  /** Returns the id of a project's embedder; null for none. */
  readonly embedderOf: (project: string) => Promise<string | null>
  /** Embeds a source with another embedder. A recent request for the same source and embedder is not repeated. */
  readonly embedAgain: (source: string, embedder: string) => Promise<unknown>
  /** Whether this process embeds the sources of a project: exactly one process does. */
  readonly isOurs: (project: string) => boolean
}

/** Maximum number of a project's sources that are embedded at once: their actors share the embedder. */
export const maxConcurrent = 8
const everyMs = 60_000
const soonMs = 2_000
const pageSize = 200
/** Time in ms after which a source that still has no vectors is skipped: it is found by its words only. */
const patienceMs = 15 * 60_000

/** Progress through the sources of a project with one embedder. */
interface Place {
  readonly embedder: string
  after: string | undefined
  isDone: boolean
  /** Sources that are being embedded, and since when. */
  readonly waiting: Map<string, number>
}

/**
 * Embeds the chunks of every base with the project's embedder after it changed, whether or not the base is searched. A
 * process starts at the first source, skips sources that already have their vectors, and stops checking a project after
 * its last source.
 */
export class VectorRounds {
  readonly #parts: VectorRoundsParts
  readonly #table: Table<SourceRow['data']>
  readonly #places = new Map<string, Place>()
  readonly #rounds: Rounds

  constructor(parts: VectorRoundsParts) {
    this.#parts = parts
    this.#table = new Table(parts.records, sourceRows, parts.clock.now)
    const pauseMs = () => ([...this.#places.values()].every(({ isDone }) => isDone) ? everyMs : soonMs)
    this.#rounds = new Rounds({ clock: parts.clock, everyMs: pauseMs, round: () => this.round() })
  }

  start(): void {
    this.#rounds.start(soonMs)
  }

  /** Stops once the current page is done. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Visits every project. An error ends the round and is left to the next one. */
  async round(): Promise<void> {
    const { projects, isOurs, log } = this.#parts
    try {
      for (let after: string | undefined; !this.#rounds.stopped; ) {
        const page = await projects.page(after, pageSize)
        for (const { data } of page) {
          if (isOurs(data.project)) await this.#check(data.project)
          else this.#places.delete(data.project)
        }
        after = page.at(-1)?.id
        if (page.length < pageSize) return
      }
    } catch (error) {
      log.warn({ err: error }, 'vectors of knowledge not looked after, trying again')
    }
  }

  async #check(project: string): Promise<void> {
    const embedder = await this.#parts.embedderOf(project)
    if (embedder === null) return void this.#places.delete(project)
    const known = this.#places.get(project)
    const place: Place =
      known?.embedder === embedder ? known : { embedder, after: undefined, isDone: false, waiting: new Map() }
    this.#places.set(project, place)
    if (place.isDone) return
    await this.#settle(project, place)
    while (place.waiting.size < maxConcurrent && !this.#rounds.stopped) {
      const page = await this.#table.list(projectScope(project), {
        ...{ limit: pageSize, ascending: true },
        ...(place.after !== undefined && { after: place.after }),
      })
      const isWhole = await this.#request(page, place)
      if (!isWhole || page.length === pageSize) continue
      place.isDone = place.waiting.size === 0
      return
    }
  }

  /** Requests vectors for sources that lack some of this embedder; false when too many requests are in progress. */
  async #request(page: readonly SourceRow[], place: Place): Promise<boolean> {
    for (const row of page) {
      if (place.waiting.size >= maxConcurrent) return false
      place.after = row.id
      if (!isStale(row, place.embedder)) continue
      await this.#parts.embedAgain(row.id, place.embedder)
      place.waiting.set(row.id, this.#parts.clock.now())
    }
    return true
  }

  /** Stops waiting for sources that have their vectors or will not get them. */
  async #settle(project: string, { waiting, embedder }: Place): Promise<void> {
    const rows = await this.#table.getMany(projectScope(project), [...waiting.keys()])
    for (const [id, since] of waiting) {
      const row = rows.get(id)
      const isLate = this.#parts.clock.now() - since > patienceMs
      if (isLate || row === undefined || !isStale(row, embedder)) waiting.delete(id)
    }
  }
}

const isStale = ({ data }: SourceRow, embedder: string): boolean =>
  data.status !== 'pending' && lacksVectors(data, embedder)
