import { createHash } from 'node:crypto'
import type { Noted } from '#actors/indexing/index-changes.ts'
import { CountedLimits } from '#records/counted-limits.ts'
import type { Row } from '#records/schema.ts'
import { StoredCounts } from '#records/stored-counts.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/index.ts'
import { maxCorpusPages } from '#specs/resources/web/web-limits.ts'
import { normalUrl } from '#src/pages/page-url.ts'
import { type BlobStore, projectScope, type RecordStore } from '#storage/index.ts'
import { type WebPageData, webBlockedUrls, webPages } from '../kinds.ts'
import { pageChanges, pagesPlace } from './page-changes.ts'

export type WebPageRow = Row<WebPageData>

export type NewPage = Omit<WebPageData, 'url_key' | 'first_seen_at' | 'changed_at' | 'changed_by' | 'missing_at'>

const pageSize = 200

export interface PageStoreOptions {
  readonly now: () => number
  /** Maximum number of pages of a project. */
  readonly max?: number
}

/** Stores the crawled pages of projects, and the segments of their indexes. */
export class PageStore {
  readonly #now: () => number
  readonly #limits: CountedLimits
  readonly #counts: StoredCounts
  readonly #max: number
  readonly #pages: Table<WebPageData>
  readonly changes: ReturnType<typeof pageChanges>
  readonly #blocked: Table<{ readonly url_key: string; readonly takedown_id: string }>

  constructor(records: RecordStore, blobs: BlobStore, { now, max = maxCorpusPages.inMemory }: PageStoreOptions) {
    this.#now = now
    this.#max = max
    this.#limits = CountedLimits.at(records)
    this.#counts = new StoredCounts(webPages, records, now)
    this.#pages = new Table(records, webPages, now)
    this.changes = pageChanges({ records, blobs, now, all: (project) => this.all(project) })
    this.#blocked = new Table(records, webBlockedUrls, now)
  }

  find(project: string, url: string): Promise<WebPageRow | null> {
    return this.#pages.find(projectScope(project), { url_key: urlKey(url) })
  }

  /** Returns another page of the project with the same content; null when there is none. */
  async twin(project: string, contentHash: string, url: string): Promise<WebPageRow | null> {
    const [...rows] = await this.#pages.list(projectScope(project), { where: { content_hash: contentHash }, limit: 2 })
    return rows.find((row) => row.data.url_key !== urlKey(url)) ?? null
  }

  async isBlocked(project: string, url: string): Promise<boolean> {
    return (await this.#blocked.find(projectScope(project), { url_key: urlKey(url) })) !== null
  }

  /**
   * Stores a page, replacing the known version of its URL.
   *
   * @returns the reason if it is not kept: the project has the maximum number of pages, or the page is taken down.
   */
  async save(project: string, url: string, page: NewPage): Promise<WebPageRow | 'corpus_full' | 'taken_down'> {
    return this.changes.make(pagesPlace(project), async (noted) => {
      const row = await this.#stored(project, url, { ...page, changed_by: noted.process })
      if (row === null) return 'corpus_full'
      // looked at after the write: `block` marks the URL before it removes the page, so one of the two sees the other
      if (!(await this.isBlocked(project, url))) {
        noted.rows.set(row.id, row)
        return row
      }
      await this.#removed(noted, row)
      return 'taken_down'
    })
  }

  async #removed(noted: Noted<WebPageRow>, { project, id }: WebPageRow): Promise<boolean> {
    await this.changes.removing(pagesPlace(project), noted, id)
    const isRemoved = await this.#pages.remove(projectScope(project), id)
    noted.rows.delete(id)
    noted.removed.set(id, this.#now())
    return isRemoved
  }

  async #stored(
    project: string,
    url: string,
    page: NewPage & Pick<WebPageData, 'changed_by'>,
  ): Promise<WebPageRow | null> {
    const now = this.#now()
    for (;;) {
      const known = await this.find(project, url)
      if (known !== null) {
        const { data } = known
        const isSame = data.content_hash === page.content_hash
        const kept = { first_seen_at: data.first_seen_at, changed_at: isSame ? data.changed_at : now }
        const row = await this.#pages.replace(known, { ...page, url_key: data.url_key, ...kept })
        if (row !== null) return row
        continue
      }
      const data = { ...page, url_key: urlKey(url), first_seen_at: now, changed_at: now }
      const limit = { max: this.#max, count: () => this.#counts.of(project, { max: this.#max, more: 1 }) }
      const insert = () =>
        this.#pages
          .insert({ id: newId('wpg'), project, data })
          // whether it is stored is not known after a failure
          .finally(() => this.#counts.stored(project, 1))
      const row = await this.#limits.orFull(`web pages ${project}`, limit, insert)
      if (row === 'full') return null
      if (row !== null) return row
    }
  }

  /** Records that the page was fetched and had not changed. */
  async touch(row: WebPageRow): Promise<WebPageRow> {
    const { missing_at: _found, ...data } = row.data
    return (await this.#pages.replace(row, { ...data, retrieved_at: this.#now() })) ?? row
  }

  /** Records since when the page has been missing. */
  async missed(row: WebPageRow): Promise<void> {
    if (row.data.missing_at === undefined) await this.#pages.replace(row, { ...row.data, missing_at: this.#now() })
  }

  /** Removes a page, which may be stored again. */
  async remove(row: WebPageRow): Promise<void> {
    await this.changes.make(pagesPlace(row.project), (noted) => this.#removed(noted, row))
  }

  /** Removes a page and prevents it from being stored again. @returns whether it existed. */
  async block(project: string, url: string, takedown: string): Promise<boolean> {
    const data = { url_key: urlKey(url), takedown_id: takedown }
    return this.changes.make(pagesPlace(project), async (noted) => {
      await this.#blocked.insert({ id: newId('wbu'), project, data })
      const row = await this.find(project, url)
      return row !== null && this.#removed(noted, row)
    })
  }

  /** Returns the existing pages among these ids. */
  getMany(project: string, ids: readonly string[]): Promise<ReadonlyMap<string, WebPageRow>> {
    return this.#pages.getMany(projectScope(project), ids)
  }

  /** Returns the number of pages of a project, of the last seconds. */
  count(project: string): Promise<number> {
    return this.#counts.of(project, { max: this.#max, more: 0 })
  }

  /** Yields every page of a project, or those that one process stored last. */
  async *all(project: string, changedBy?: string): AsyncGenerator<WebPageRow> {
    for (let after: string | undefined; ; ) {
      const page = await this.#pages.list(projectScope(project), {
        ...{ limit: pageSize, ascending: true },
        ...(changedBy !== undefined && { where: { changed_by: changedBy } }),
        ...(after !== undefined && { after }),
      })
      yield* page
      after = page.at(-1)?.id
      if (page.length < pageSize) return
    }
  }

  /** Makes the changes of the project's pages known to other processes. */
  changed(project: string): Promise<void> {
    return this.changes.changed(pagesPlace(project))
  }

  /**
   * Makes the changes known, and removes at once what the index has of removed pages: also of those that a process had
   * announced and removed that ended before it noted it.
   */
  async purge(project: string): Promise<void> {
    const place = pagesPlace(project)
    const ids = Object.values((await this.changes.state(place))?.removing ?? {}).flat()
    const existing = await this.getMany(project, ids)
    const gone = ids.filter((id) => !existing.has(id))
    if (gone.length > 0)
      await this.changes.make(place, async ({ removed }) => {
        for (const id of gone) removed.set(id, this.#now())
      })
    await this.changes.purge(place)
  }
}

/** Returns the key of a URL. All URLs of the same page have the same key. */
const urlKey = (url: string): string => {
  const parsed = URL.parse(url)
  return createHash('sha256')
    .update(parsed === null ? url : normalUrl(parsed))
    .digest('hex')
    .slice(0, 40)
}
