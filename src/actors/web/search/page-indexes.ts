import { type FindablePage, IndexCache, PageIndex, vectorOfText } from '#retrieval/index.ts'
import type { Clock } from '#runtime/index.ts'
import { changedMs, type PageStore, type WebPageRow } from '../store/page-store.ts'

/** Maximum size of all indexes of a node, in bytes. */
const maxBytes = 512 * 1024 * 1024
/** Maximum age of an index in ms, after which changes by other nodes are applied. */
const recheckMs = 1_000
/** Maximum time of work in one turn of the event loop, in ms. */
const sliceMs = 8

class Kept {
  readonly index = new PageIndex()
  readonly rows = new Map<string, WebPageRow>()
  revision: number
  checkedAt: number
  /** ms since the epoch at which all pages were last read. */
  readAt = 0
  updating: Promise<void> | null = null

  constructor(revision: number, checkedAt: number) {
    this.revision = revision
    this.checkedAt = checkedAt
  }

  get bytes(): number {
    return this.index.bytes
  }
}

/** Cache of the indexes of projects' pages. An index includes all changes made on this node. */
export class PageIndexes {
  readonly #store: PageStore
  readonly #clock: Clock
  readonly #cache: IndexCache<Kept>

  constructor(store: PageStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
    this.#cache = new IndexCache({ maxBytes, load: async (project) => this.#loaded(project) })
  }

  /** Adds a page that was stored on this node. */
  put(row: WebPageRow): void {
    this.#cache.update(row.project, (kept) => this.#take(kept, row))
  }

  /** Removes a page that was removed on this node. */
  removed({ id, project }: WebPageRow): void {
    this.#cache.update(project, ({ index, rows }) => {
      index.remove(id)
      rows.delete(id)
    })
  }

  /** Drops the index of a project whose pages were removed on this node. */
  dropped(project: string): void {
    this.#cache.drop(project)
  }

  /** Returns the up-to-date index of a project, and its rows. */
  async of(project: string): Promise<{ readonly index: PageIndex; readonly rows: ReadonlyMap<string, WebPageRow> }> {
    const kept = await this.#cache.get(project)
    if (this.#clock.steady() - kept.checkedAt >= recheckMs) {
      kept.updating ??= this.#recheck(kept, project).finally(() => {
        kept.updating = null
      })
      await kept.updating
    }
    return kept
  }

  async #loaded(project: string): Promise<Kept> {
    const kept = new Kept((await this.#store.corpus(project)).revision, this.#clock.steady())
    await this.#update(kept, project)
    return kept
  }

  async #recheck(kept: Kept, project: string): Promise<void> {
    const checkedAt = this.#clock.steady()
    const { revision, announcedAt } = await this.#store.corpus(project)
    const madeAt = announcedAt + changedMs
    const mayHaveMissed = kept.readAt < madeAt && this.#clock.now() >= madeAt
    if (revision !== kept.revision || mayHaveMissed) await this.#update(kept, project)
    kept.revision = revision
    kept.checkedAt = checkedAt
  }

  async #update(kept: Kept, project: string): Promise<void> {
    kept.readAt = this.#clock.now()
    const seen = new Set<string>()
    let since = this.#clock.steady()
    for await (const row of this.#store.all(project)) {
      seen.add(row.id)
      this.#take(kept, row)
      if (this.#clock.steady() - since < sliceMs) continue
      await new Promise<void>((resolve) => this.#clock.soon(resolve))
      since = this.#clock.steady()
    }
    for (const id of kept.rows.keys()) {
      if (seen.has(id)) continue
      kept.rows.delete(id)
      kept.index.remove(id)
    }
  }

  #take(kept: Kept, row: WebPageRow): void {
    const known = kept.rows.get(row.id)
    if (known !== undefined && known.version >= row.version) return
    kept.rows.set(row.id, row)
    kept.index.add(findable(row))
  }
}

const findable = ({ id, data }: WebPageRow): FindablePage => ({
  ...{ id, url: data.canonical_url, title: data.title, description: data.description, text: data.text },
  passages: data.passages.map(({ start, end, heading, vector }) => ({
    ...{ start, end, heading, vector: vector === null ? null : vectorOfText(vector) },
  })),
  contentHash: data.content_hash,
  publishedAt: data.published_at,
  firstSeenAt: data.first_seen_at,
  retrievedAt: data.retrieved_at,
  links: data.links.flatMap(({ url, nofollow }) => (nofollow ? [] : [url])),
})
