import type { EmbeddedProjectList } from '#actors/capability/embedder-port.ts'
import type { ErasedOwner } from '#actors/capability/erased-copies.ts'
import type { Services } from '#actors/capability/services.ts'
import { type IndexPlace, recheckMs } from '#actors/indexing/stored-index.ts'
import { StoredIndexes } from '#actors/indexing/stored-indexes.ts'
import { Table } from '#records/table.ts'
import type { DocumentSegment, IndexBound } from '#retrieval/index.ts'
import { ExpiringNames, type RowWatcher } from '#runtime/internal.ts'
import { type BlobStore, projectScope, type VectorStore } from '#storage/index.ts'
import { BaseChanges, basePlace } from '../index/base-changes.ts'
import { sourceRows } from '../kinds.ts'
import type { SourceRow } from '../schema.ts'
import type { EmbedderOf } from '../sources/embed-source.ts'
import type { SourceBlobs } from '../sources/source-blobs.ts'
import { lacksVectors } from '../sources/vector-store.ts'
import { BaseIndex } from './base-index.ts'
import { StoredSources } from './stored-sources.ts'

export interface IndexesParts extends Pick<Services, 'clock' | 'log' | 'records'> {
  readonly blobs: SourceBlobs
  /** The store of the blobs of segments. */
  readonly segments: BlobStore
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
  /** Whether this process merges the segments of a project; absent: of all. */
  readonly isOurs?: (project: string) => boolean
  /** Absent: a bound of their own. */
  readonly bound?: IndexBound
}

/** A base that is searched. */
export interface SearchedBase {
  readonly project: string
  readonly tenant: string | null
  readonly base: string
}

/** Time in ms after which the sources of an index are checked again for vectors that are missing. */
const embedMs = 1_000
/** Maximum number of sources whose vectors are requested with one search. */
const maxRequested = 200

/** The indexes of recently searched bases. An index includes all changes made on this node. */
export class BaseIndexes {
  readonly #parts: IndexesParts
  readonly #changes: BaseChanges
  readonly #indexes: StoredIndexes<SourceRow, BaseIndex, DocumentSegment>
  readonly #rows: Table<SourceRow['data']>
  /** Bases that were changed on this node, since they were last searched. */
  readonly #changed = new Set<string>()
  /** What searches of changed bases wait for, also those that come meanwhile. */
  readonly #settling = new Map<string, Promise<void>>()
  /** Indexes that this node has changed, which another one may not have noticed yet. */
  readonly #recent: ExpiringNames

  /** When sources of an index were last checked for vectors that are missing. */
  readonly #embedded = new WeakMap<BaseIndex, number>()

  constructor(parts: IndexesParts) {
    this.#parts = parts
    const { records, segments, clock, log, isOurs } = parts
    this.#recent = new ExpiringNames(clock)
    this.#rows = new Table(records, sourceRows, clock.now)
    this.#changes = new BaseChanges({
      ...{ records, clock, log, blobs: segments, sources: parts.blobs, now: clock.now },
      ...(isOurs && { isOurs }),
      open: (place, before) => this.#open(place, before),
      written: ({ id }) => this.#recent.add(id, recheckMs),
      removed: (place, source) => this.#indexes.update(place, (index) => index.forget(source)),
    })
    this.#indexes = new StoredIndexes(this.#changes.index, parts)
  }

  get bytes(): number {
    return this.#indexes.bytes
  }

  /** Notes the rows of sources as they are written. */
  get watch(): RowWatcher {
    return this.#changes.watch
  }

  #open({ project, id }: IndexPlace, before: BaseIndex | null): BaseIndex {
    const { vectors, clock, embedderOf } = this.#parts
    const base = `kb_${id.slice(id.indexOf('_') + 1)}`
    const stored = before?.stored ?? new StoredSources({ project, base, vectors, steady: clock.steady })
    const current = async () => (await embedderOf(project))?.id ?? null
    return new BaseIndex({ embedder: before?.wanted ?? null, stored, embedderOf: current })
  }

  /** Marks the index of a base as outdated. */
  changed(base: string): void {
    this.#changed.add(base)
  }

  /** Drops the index of a deleted base. */
  drop({ project, tenant, base }: SearchedBase): void {
    this.#indexes.dropped(basePlace(project, tenant, base))
  }

  /** Drops what this node keeps in memory of an erased project, or of a tenant of it. */
  dropErased(erased: ErasedOwner): void {
    this.#indexes.dropErased(erased)
    this.#changes.forgetKnown()
  }

  /** Removes the index of a deleted base from the store. */
  async remove({ project, tenant, base }: SearchedBase): Promise<void> {
    this.drop({ project, tenant, base })
    await this.#changes.remove(basePlace(project, tenant, base))
  }

  /**
   * Stores what this node has changed of a base.
   *
   * @returns whether an index in memory anywhere may lack it.
   * @throws {StoreUnavailable}
   */
  async settle({ project, tenant, base }: SearchedBase): Promise<boolean> {
    const place = basePlace(project, tenant, base)
    const settling = this.#changed.delete(base) ? this.#settled(base, place) : this.#settling.get(base)
    if (settling !== undefined) this.#settling.set(base, settling)
    await settling
    if (this.#settling.get(base) === settling) this.#settling.delete(base)
    if (this.#changes.index.has(place)) await this.#flushed(place)
    return this.#recent.has(place.id)
  }

  /** Stores what the rows of a base show; a search after one that failed does it again. */
  async #settled(base: string, place: IndexPlace): Promise<void> {
    try {
      await this.#parts.shown()
      await this.#flushed(place)
    } catch (error) {
      this.#changed.add(base)
      this.#settling.delete(base)
      throw error
    }
  }

  async #flushed(place: IndexPlace): Promise<void> {
    await this.#changes.index.flush(place)
    this.#recent.add(place.id, recheckMs)
  }

  /**
   * Returns the up-to-date index of a base.
   *
   * @param isExact with all that was stored before the call.
   * @throws {StoreUnavailable}
   */
  async of(searched: SearchedBase, isExact = false): Promise<BaseIndex> {
    const { project, tenant, base } = searched
    const isChanged = await this.settle(searched)
    await this.#parts.projects.note(project)
    const index = await this.#indexes.of(basePlace(project, tenant, base), isChanged || isExact)
    const { clock } = this.#parts
    if (clock.steady() - (this.#embedded.get(index) ?? Number.NEGATIVE_INFINITY) >= embedMs) {
      this.#embedded.set(index, clock.steady())
      await this.#embedStale(project, index)
    }
    return index
  }

  /** Returns the current rows of these sources. */
  rows(project: string, ids: readonly string[]): Promise<ReadonlyMap<string, SourceRow>> {
    return this.#rows.getMany(projectScope(project), ids)
  }

  /** Embeds sources that lack vectors of the project's embedder, and stores vectors for the database to search. */
  async #embedStale(project: string, index: BaseIndex): Promise<void> {
    const { embedder, stored } = index
    const { embedAgain, log } = this.#parts
    if (embedder === null) return
    const lacking = index.lacking(embedder).slice(0, maxRequested)
    if (lacking.length === 0) return
    for (const { id, data } of (await this.rows(project, lacking)).values()) {
      if (data.status === 'pending') continue
      const isStale = lacksVectors(data, embedder)
      if (!isStale && !stored.lacks({ id, vectors: data.vectors })) continue
      embedAgain(id, isStale ? embedder : `${embedder}, searchable`).catch((error: unknown) =>
        log.warn({ error, source: id }, 'vectors are made later'),
      )
    }
  }
}
