import type { EmbeddedProjectList } from '#actors/capability/embedder-port.ts'
import type { Services } from '#actors/capability/services.ts'
import { IndexCache } from '#retrieval/index.ts'
import { projectScope, type VectorStore } from '#storage/index.ts'
import type { SourceRow } from '../schema.ts'
import type { EmbedderOf } from '../sources/embed-source.ts'
import type { SourceBlobs } from '../sources/source-blobs.ts'
import { sourcesOf } from '../sources/source-rows.ts'
import { lacksVectors } from '../sources/vector-store.ts'
import { BaseIndex } from './base-index.ts'
import { StoredSources } from './stored-sources.ts'

export interface IndexesParts extends Pick<Services, 'clock' | 'log' | 'records'> {
  readonly blobs: SourceBlobs
  /** Resolves when the list rows show everything that was committed. */
  readonly shown: () => Promise<unknown>
  readonly embedderOf: EmbedderOf
  readonly projects: Pick<EmbeddedProjectList, 'note'>
  /** null for a store that cannot search vectors. */
  readonly vectors: VectorStore | null
  /**
   * Embeds a source with another embedder, or stores its vectors for the database to search.
   *
   * @param wanted names the wanted state: a recent request for the same one is not repeated.
   */
  readonly embedAgain: (source: string, wanted: string) => Promise<unknown>
}

/** Maximum size of all indexes of a node, in bytes. */
const maxBytes = 512 * 1024 * 1024
/** Maximum age of an index in ms, after which changes by other nodes are applied. */
const recheckMs = 1_000

class Kept {
  readonly index: BaseIndex
  readonly stored: StoredSources
  checkedAt = Number.NEGATIVE_INFINITY
  updating: Promise<void> | null = null

  constructor(index: BaseIndex, stored: StoredSources) {
    this.index = index
    this.stored = stored
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
    const { blobs, vectors, clock } = parts
    const breathe = () => new Promise<void>((resolve) => clock.soon(resolve))
    this.#cache = new IndexCache({
      maxBytes,
      load: async (key) => {
        const [project = '', base = ''] = key.split('/')
        const stored = new StoredSources({ project, base, vectors, steady: clock.steady })
        return new Kept(new BaseIndex({ blobs, breathe, steady: clock.steady, stored }), stored)
      },
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
    for (let attempts = 0; attempts < 2; attempts++) {
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
    if (embedder !== null) this.#embedStale(embedder, rows, kept.stored)
  }

  /** Embeds sources that lack vectors of the project's embedder, and stores vectors for the database to search. */
  #embedStale(embedder: string, rows: readonly SourceRow[], stored: StoredSources): void {
    const { embedAgain, log } = this.#parts
    for (const row of rows) {
      const { id, data } = row
      if (data.status !== 'ready') continue
      const isStale = lacksVectors(data, embedder)
      if (!isStale && !stored.lacks(row)) continue
      embedAgain(id, isStale ? embedder : `${embedder}, searchable`).catch((error: unknown) =>
        log.warn({ error, source: id }, 'vectors are made later'),
      )
    }
  }
}
