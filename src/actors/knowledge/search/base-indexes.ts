import type { Logger } from 'pino'
import type { EmbeddedProjectList } from '#actors/capability/embedder-port.ts'
import { IndexCache } from '#retrieval/index-cache.ts'
import type { Clock } from '#runtime/clock.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import type { SourceRow } from '../schema.ts'
import type { EmbedderOf } from '../sources/embed-source.ts'
import type { SourceBlobs } from '../sources/source-blobs.ts'
import { sourcesOf } from '../sources/source-rows.ts'
import { BaseIndex } from './base-index.ts'

/** What indexes are read with. */
export interface IndexesParts {
  readonly records: RecordStore
  readonly blobs: SourceBlobs
  readonly clock: Clock
  readonly log: Logger
  /** Resolves when the list rows show what was committed. */
  readonly shown: () => Promise<unknown>
  readonly embedderOf: EmbedderOf
  readonly projects: Pick<EmbeddedProjectList, 'note'>
  /** Gives a source vectors of another embedder. */
  readonly embedAgain: (source: string, embedder: string) => Promise<unknown>
}

/** Memory of all indexes of a node. */
const mostBytes = 512 * 1024 * 1024
/** A change by another node is found after this time at the latest, in ms. */
const recheckMs = 1_000

class Kept {
  readonly index: BaseIndex
  checkedAt = Number.NEGATIVE_INFINITY
  updating: Promise<void> | null = null

  constructor(index: BaseIndex) {
    this.index = index
  }

  get bytes(): number {
    return this.index.bytes
  }
}

/** The indexes of knowledge bases that are searched most recently, each as new as what this node has done. */
export class BaseIndexes {
  readonly #parts: IndexesParts
  readonly #cache: IndexCache<Kept>
  readonly #changed = new Set<string>()

  constructor(parts: IndexesParts) {
    this.#parts = parts
    const breathe = () => new Promise<void>((resolve) => parts.clock.soon(resolve))
    this.#cache = new IndexCache({
      mostBytes,
      load: async () => new Kept(new BaseIndex({ blobs: parts.blobs, breathe, steady: parts.clock.steady })),
    })
  }

  /** A base has something else to find. */
  changed(base: string): void {
    this.#changed.add(base)
  }

  /** A base is gone. */
  drop(project: string, base: string): void {
    this.#cache.drop(`${project}/${base}`)
  }

  /** The index of a base. @throws {StoreUnavailable} */
  async of(project: string, base: string): Promise<BaseIndex> {
    const kept = await this.#cache.get(`${project}/${base}`)
    const { clock } = this.#parts
    // an update that is under way may have begun before the change
    for (let looks = 0; looks < 2; looks++) {
      const isStale = clock.steady() - kept.checkedAt >= recheckMs || this.#changed.has(base)
      if (!isStale) break
      kept.updating ??= this.#update(kept, project, base).finally(() => {
        kept.updating = null
      })
      await kept.updating
    }
    return kept.index
  }

  async #update(kept: Kept, project: string, base: string): Promise<void> {
    const { clock, records, shown, embedderOf } = this.#parts
    const checkedAt = clock.steady()
    this.#changed.delete(base)
    await shown()
    await this.#parts.projects.note(project)
    const embedder = (await embedderOf(project))?.id ?? null
    const rows = await kept.index.update(sourcesOf(records, projectScope(project), base), embedder)
    kept.checkedAt = checkedAt
    if (embedder !== null) this.#embedStale(embedder, rows)
  }

  /** Sources whose vectors another embedder made, or none, get those of the project's. */
  #embedStale(embedder: string, rows: readonly SourceRow[]): void {
    const { embedAgain, log } = this.#parts
    for (const { id, data } of rows) {
      if (data.status !== 'ready' || data.vectors?.embedder === embedder) continue
      embedAgain(id, embedder).catch((error: unknown) => log.warn({ error, source: id }, 'vectors are made later'))
    }
  }
}
