import { StoredIndexes, type StoredIndexesParts } from '#actors/indexing/stored-indexes.ts'
import type { PageIndex, PageSegment } from '#retrieval/index.ts'
import { findableRow } from '../store/findable-row.ts'
import { pagesPlace } from '../store/page-changes.ts'
import type { PageStore, WebPageRow } from '../store/page-store.ts'

export interface PageIndexesParts extends StoredIndexesParts {
  readonly store: PageStore
}

/** Cache of the indexes of projects' pages. An index includes all changes made on this node. */
export class PageIndexes {
  readonly #store: PageStore
  readonly #indexes: StoredIndexes<WebPageRow, PageIndex, PageSegment>

  constructor(parts: PageIndexesParts) {
    this.#store = parts.store
    this.#indexes = new StoredIndexes(parts.store.changes, parts)
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

  /** Drops the index of a project whose pages were removed on this node. */
  dropped(project: string): void {
    this.#indexes.dropped(pagesPlace(project))
  }

  /** Returns the up-to-date index of a project. */
  of(project: string): Promise<PageIndex> {
    return this.#indexes.of(pagesPlace(project))
  }

  /** Returns the current pages of a project among these. */
  rows(project: string, ids: readonly string[]): Promise<ReadonlyMap<string, WebPageRow>> {
    return this.#store.getMany(project, ids)
  }
}
