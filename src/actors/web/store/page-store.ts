import { createHash } from 'node:crypto'
import { CountedLimits } from '#records/counted-limits.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/index.ts'
import { maxCorpusPages } from '#specs/resources/web/web-limits.ts'
import { normalUrl } from '#src/pages/page-url.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { type WebCorpusData, type WebPageData, webBlockedUrls, webCorpora, webPages } from '../kinds.ts'

export type WebPageRow = Row<WebPageData>

export type NewPage = Omit<WebPageData, 'url_key' | 'first_seen_at' | 'changed_at'>

const pageSize = 200
/** Time in ms for which one announcement covers the changes of a process. */
const announcedMs = 10_000
/** Maximum number of projects whose announcements a process remembers. */
const maxAnnounced = 1_000
/** Time in ms after an announcement by which its changes have been made, or never will be. */
export const changedMs = 60_000

/** Stores the crawled pages of projects. */
export class PageStore {
  readonly #now: () => number
  readonly #limits: CountedLimits
  readonly #pages: Table<WebPageData>
  readonly #corpora: Table<WebCorpusData>
  readonly #announced = new Map<string, number>()
  readonly #blocked: Table<{ readonly url_key: string; readonly takedown_id: string }>

  constructor(records: RecordStore, now: () => number) {
    this.#now = now
    this.#limits = CountedLimits.at(records)
    this.#pages = new Table(records, webPages, now)
    this.#corpora = new Table(records, webCorpora, now)
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
    await this.#announce(project)
    const row = await this.#stored(project, url, page)
    if (row === null) return 'corpus_full'
    // looked at after the write: `block` marks the URL before it removes the page, so one of the two sees the other
    if (!(await this.isBlocked(project, url))) return row
    await this.#pages.remove(projectScope(project), row.id)
    return 'taken_down'
  }

  async #stored(project: string, url: string, page: NewPage): Promise<WebPageRow | null> {
    const scope = projectScope(project)
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
      const limit = { max: maxCorpusPages, count: () => this.#pages.count(scope) }
      const insert = () => this.#pages.insert({ id: newId('wpg'), project, data })
      const row = await this.#limits.orFull(`web pages ${project}`, limit, insert)
      if (row === 'full') return null
      if (row !== null) return row
    }
  }

  /** Records that the page was fetched and had not changed. */
  async touch(row: WebPageRow): Promise<WebPageRow> {
    return (await this.#pages.replace(row, { ...row.data, retrieved_at: this.#now() })) ?? row
  }

  /** Removes a page, which may be stored again. */
  async remove({ project, id }: WebPageRow): Promise<void> {
    await this.#announce(project)
    await this.#pages.remove(projectScope(project), id)
  }

  /** Removes a page and prevents it from being stored again. @returns whether it existed. */
  async block(project: string, url: string, takedown: string): Promise<boolean> {
    const data = { url_key: urlKey(url), takedown_id: takedown }
    await this.#announce(project)
    await this.#blocked.insert({ id: newId('wbu'), project, data })
    const row = await this.find(project, url)
    return row !== null && this.#pages.remove(projectScope(project), row.id)
  }

  /** Yields every page of a project. */
  async *all(project: string): AsyncGenerator<WebPageRow> {
    for (let after: string | undefined; ; ) {
      const page = await this.#pages.list(projectScope(project), {
        ...{ limit: pageSize, ascending: true },
        ...(after !== undefined && { after }),
      })
      yield* page
      after = page.at(-1)?.id
      if (page.length < pageSize) return
    }
  }

  /**
   * Returns the revision of a project's pages, which increases after they have changed, and when changes were last announced. A
   * process that ends between its changes and the new revision leaves the announcement alone: `changedMs` after it, each
   * process that keeps what it has read of the pages reads them once more.
   */
  async corpus(project: string): Promise<{ readonly revision: number; readonly announcedAt: number }> {
    const row = await this.#corpora.get(projectScope(project), corpusId(project))
    return { revision: row?.data.revision ?? 0, announcedAt: row?.data.announced_at ?? 0 }
  }

  /** Increments the revision after pages of the project have changed. */
  changed(project: string): Promise<void> {
    return this.#note(project, (data) => ({ ...data, revision: data.revision + 1 }))
  }

  /** Announces changes of the project's pages before they are made. */
  async #announce(project: string): Promise<void> {
    const now = this.#now()
    if (now - (this.#announced.get(project) ?? 0) < announcedMs) return
    await this.#note(project, (data) => ({ ...data, announced_at: now }))
    if (this.#announced.size >= maxAnnounced) this.#announced.clear()
    this.#announced.set(project, now)
  }

  async #note(project: string, change: (data: WebCorpusData) => WebCorpusData): Promise<void> {
    const id = corpusId(project)
    for (let tried = 0; tried < 3; tried += 1) {
      const edit = ({ data }: { readonly data: WebCorpusData }) => change(data)
      if ((await this.#corpora.change(projectScope(project), id, { edit })) !== null) return
      if ((await this.#corpora.insert({ id, project, data: change({ revision: 0 }) })) !== null) return
    }
  }
}

const corpusId = (project: string): string => `wco_${project.slice(project.indexOf('_') + 1)}`

/** Returns the key of a URL. All URLs of the same page have the same key. */
const urlKey = (url: string): string => {
  const parsed = URL.parse(url)
  return createHash('sha256')
    .update(parsed === null ? url : normalUrl(parsed))
    .digest('hex')
    .slice(0, 40)
}
