import type { Logger } from 'pino'
import type { ErasedOwner } from '#actors/capability/erased-copies.ts'
import { recheckMs } from '#actors/indexing/stored-index.ts'
import { StoredIndexes, type StoredIndexesParts } from '#actors/indexing/stored-indexes.ts'
import type { PageHit, PageIndex, PageSegment } from '#retrieval/index.ts'
import type { Clock } from '#runtime/index.ts'
import { ExpiringNames } from '#runtime/internal.ts'
import type { SearchStore } from '#storage/index.ts'
import { findableRow } from '../store/findable-row.ts'
import { pagesPlace } from '../store/page-changes.ts'
import type { PageStore, WebPageRow } from '../store/page-store.ts'
import type { FilteredQuery } from './page-filter.ts'
import { PageTables, type PageTablesParts } from './page-tables.ts'

export interface PageIndexesParts extends StoredIndexesParts {
  readonly clock: Pick<Clock, 'now' | 'steady' | 'after'>
  readonly store: PageStore
  readonly log?: Pick<Logger, 'warn'>
  /** Finds candidates in large corpora; absent: every corpus is searched in memory. */
  readonly engine?: SearchStore | undefined
  readonly sizes?: Pick<PageTablesParts, 'inMemory' | 'joinedFrom' | 'joinedBytes'>
}

/** The indexes of projects' pages, in memory or in an engine. An index in memory includes all changes made on this node. */
export class PageIndexes {
  readonly #store: PageStore
  readonly #indexes: StoredIndexes<WebPageRow, PageIndex, PageSegment>
  /** Projects whose pages this process has changed, which another one may not have noticed yet. */
  readonly #recent: ExpiringNames
  readonly #tables: PageTables | null

  constructor(parts: PageIndexesParts) {
    this.#store = parts.store
    this.#indexes = new StoredIndexes(parts.store.changes, parts)
    const { store, clock, log, engine, bound, sizes } = parts
    this.#recent = new ExpiringNames(clock)
    this.#tables =
      engine === undefined ? null : new PageTables({ engine, store, clock, bound, ...sizes, ...(log && { log }) })
  }

  /** Estimated memory of all indexes in bytes. */
  get bytes(): number {
    return this.#indexes.bytes
  }

  /** Adds a page that was stored on this node. */
  put(row: WebPageRow): void {
    this.#indexes.update(pagesPlace(row.project), (index) => {
      if (index.versionOf(row.id) < row.version) index.add(findableRow(row))
    })
  }

  /** Removes a page that was removed on this node. */
  removed({ id, project }: WebPageRow): void {
    this.#indexes.update(pagesPlace(project), (index) => index.forget(id))
  }

  /** Drops the index of a project whose pages were removed on this node, and all copies of it. */
  async dropped(project: string): Promise<void> {
    this.#indexes.dropped(pagesPlace(project))
    await this.#tables?.purge(pagesPlace(project))
  }

  /** Drops what this node keeps in memory of an erased project. */
  dropErased(erased: ErasedOwner): void {
    this.#indexes.dropErased(erased)
    this.#tables?.dropErased(erased)
  }

  /** Makes the changes of a project's pages on this node known to other processes. */
  async changed(project: string): Promise<void> {
    await this.#store.changed(project)
    this.#recent.add(project, recheckMs)
    await this.#tables?.follow(pagesPlace(project))
  }

  /** Whether an index of a project's pages in another process may lack changes that were made known here. */
  hasRecent(project: string): boolean {
    return this.#recent.has(project)
  }

  /** Finds pages of a project, best first. @param isExact as of `of` */
  async search(project: string, query: FilteredQuery, isExact = false): Promise<readonly PageHit[]> {
    const found = (await this.#tables?.search(pagesPlace(project), query)) ?? null
    return found ?? (await this.of(project, isExact)).search(query)
  }

  /** Corrects an index that has other versions of these pages, or pages that do not exist. */
  async correct(project: string, rows: readonly WebPageRow[], gone: readonly string[]): Promise<void> {
    for (const row of rows) this.put(row)
    if (rows.length > 0 || gone.length > 0) await this.#tables?.correct(pagesPlace(project), rows, gone)
  }

  /** Returns the up-to-date index of a project in memory. @param isExact with all that was made known before the call */
  of(project: string, isExact = false): Promise<PageIndex> {
    return this.#indexes.of(pagesPlace(project), isExact)
  }

  /** Returns the current pages of a project among these. */
  rows(project: string, ids: readonly string[]): Promise<ReadonlyMap<string, WebPageRow>> {
    return this.#store.getMany(project, ids)
  }
}
