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

export interface IndexesParts {
  readonly records: RecordStore
  readonly blobs: SourceBlobs
  readonly clock: Clock
  readonly log: Logger
  /** Resolves when the list rows show everything that was committed. */
  readonly shown: () => Promise<unknown>
  readonly embedderOf: EmbedderOf
  readonly projects: Pick<EmbeddedProjectList, 'note'>
  /** Embeds a source with another embedder. */
  readonly embedAgain: (source: string, embedder: string) => Promise<unknown>
}

/** Maximum size of all indexes of a node, in bytes. */
const mostBytes = 512 * 1024 * 1024
/** Maximum age of an index in ms, after which changes by other nodes are applied. */
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

/** Cache of the indexes of recently searched bases. An index includes all changes made on this node. */
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

  /** Marks the index of a base as outdated. */
  changed(base: string): void {
    this.#changed.add(base)
  }

  /** Drops the index of a deleted base. */
  drop(project: string, base: string): void {
    this.#cache.drop(`${project}/${base}`)
  }

  /** Returns the up-to-date index of a base. @throws {StoreUnavailable} */
  async of(project: string, base: string): Promise<BaseIndex> {
    const kept = await this.#cache.get(`${project}/${base}`)
    const { clock } = this.#parts
    // an update that is in progress may have started before the change, so there may be a second one
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

  /** Embeds sources that have no vectors, or vectors of another embedder, with the embedder of the project. */
  #embedStale(embedder: string, rows: readonly SourceRow[]): void {
    const { embedAgain, log } = this.#parts
    for (const { id, data } of rows) {
      if (data.status !== 'ready' || data.vectors?.embedder === embedder) continue
      embedAgain(id, embedder).catch((error: unknown) => log.warn({ error, source: id }, 'vectors are made later'))
    }
  }
}
