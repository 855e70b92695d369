import type { Logger } from 'pino'
import { IndexCache, PageIndex, PageSegmentWriter } from '#retrieval/index.ts'
import type { Clock } from '#runtime/index.ts'
import { nextSlice, runInSlices } from '#src/concurrency/run-in-slices.ts'
import type { PageSegmentRef, WebCorpusData } from '../kinds.ts'
import { findableRow } from '../store/findable-row.ts'
import type { PageStore, WebPageRow } from '../store/page-store.ts'
import { SegmentGone } from '../store/segment-blobs.ts'
import { abandoned, covers, isWasteful, mergeable } from '../store/segment-refs.ts'

export interface PageIndexesParts {
  readonly store: PageStore
  readonly clock: Clock
  readonly log?: Pick<Logger, 'warn'>
  /** Maximum size of all indexes of a node, in bytes. */
  readonly maxBytes?: number
}

const maxBytesOfNode = 512 * 1024 * 1024
/** Maximum age of an index in ms, after which changes by other nodes are applied. */
const recheckMs = 1_000
/** Number of pages that are analysed as one segment. */
const segmentPages = 200
/** Number of times that segments are read whose predecessors were replaced meanwhile. */
const maxTries = 3

class Kept {
  index = new PageIndex()
  /** The changes of all revisions up to this one are in the index. */
  revision = 0
  checkedAt = Number.NEGATIVE_INFINITY
  updating: Promise<void> | null = null

  get bytes(): number {
    return this.index.bytes
  }
}

/**
 * Cache of the indexes of projects' pages, read from the segments that the processes wrote that changed the pages. An
 * index includes all changes made on this node.
 */
export class PageIndexes {
  readonly #parts: PageIndexesParts
  readonly #cache: IndexCache<Kept>

  constructor(parts: PageIndexesParts) {
    this.#parts = parts
    const load = async (project: string): Promise<Kept> => {
      const kept = new Kept()
      await this.#recheck(kept, project)
      return kept
    }
    this.#cache = new IndexCache({ maxBytes: parts.maxBytes ?? maxBytesOfNode, load })
  }

  /** Estimated memory of all indexes in bytes. */
  get bytes(): number {
    return this.#cache.bytes
  }

  /** Adds a page that was stored on this node. */
  put(row: WebPageRow): void {
    this.#cache.update(row.project, ({ index }) => {
      if (index.versionOf(row.id) < row.version) index.add(findableRow(row))
    })
  }

  /** Removes a page that was removed on this node. */
  removed({ id, project }: WebPageRow): void {
    this.#cache.update(project, ({ index }) => index.forget(id))
  }

  /** Drops the index of a project whose pages were removed on this node. */
  dropped(project: string): void {
    this.#cache.drop(project)
  }

  /** Returns the up-to-date index of a project. */
  async of(project: string): Promise<PageIndex> {
    const kept = await this.#cache.get(project)
    if (this.#parts.clock.steady() - kept.checkedAt >= recheckMs) {
      kept.updating ??= this.#recheck(kept, project).finally(() => {
        kept.updating = null
      })
      await kept.updating
    }
    return kept.index
  }

  /** Returns the current pages of a project among these. */
  rows(project: string, ids: readonly string[]): Promise<ReadonlyMap<string, WebPageRow>> {
    return this.#parts.store.getMany(project, ids)
  }

  async #recheck(kept: Kept, project: string): Promise<void> {
    const { store, clock } = this.#parts
    const checkedAt = clock.steady()
    let corpus = await store.changes.corpus(project)
    let isRead = false
    for (let tries = 1; corpus !== null && !isRead && tries <= maxTries; tries++) {
      isRead = await this.#applied(kept, project, corpus)
      if (!isRead) corpus = await store.changes.corpus(project)
    }
    // without one of its segments, which a backup may lack, an index is made from all pages
    if (!isRead) kept.index = new PageIndex()
    if (corpus !== null && (!isRead || this.#isPartial(corpus)))
      await this.#complete(kept, project, { before: corpus, isNew: !isRead })
    kept.checkedAt = checkedAt
    this.#tidy(kept, project, corpus?.segments ?? [])
  }

  /** Reads the segments of the revisions that the index lacks; false if one was replaced meanwhile. */
  async #applied(kept: Kept, project: string, { segments = [], revision }: WebCorpusData): Promise<boolean> {
    try {
      for (const ref of segments) {
        if (ref.to <= kept.revision) continue
        await runInSlices(kept.index.load(await this.#parts.store.blobs.get(project, ref)))
      }
    } catch (error) {
      if (error instanceof SegmentGone) return false
      throw error
    }
    if (covers(segments, { after: kept.revision, to: revision })) kept.revision = revision
    return true
  }

  /** Whether pages may have changed of which no segment knows. */
  #isPartial(corpus: WebCorpusData): boolean {
    const { segments = [], revision } = corpus
    return !covers(segments, { after: 0, to: revision }) || abandoned(corpus, this.#parts.clock.now()).length > 0
  }

  /** Compares all pages with the index, and stores what it lacked as segments. */
  async #complete(
    kept: Kept,
    project: string,
    { before, isNew }: { readonly before: WebCorpusData; readonly isNew: boolean },
  ): Promise<void> {
    const { store, clock } = this.#parts
    const gone = new Set(kept.index.ids)
    const segments: PageSegmentRef[] = []
    let writer = new PageSegmentWriter()
    const written = async (): Promise<void> => {
      const ref = await store.changes.segments.put(project, { writer, from: 0, to: 0 })
      segments.push(ref)
      writer = new PageSegmentWriter()
      await runInSlices(kept.index.load(await store.blobs.get(project, ref)))
    }
    for await (const row of store.all(project)) {
      gone.delete(row.id)
      if (kept.index.versionOf(row.id) >= row.version) continue
      writer.add(findableRow(row), () => kept.index.language)
      if (writer.size === segmentPages) await written()
      else await nextSlice()
    }
    for (const id of gone) writer.removals.push([id, clock.now()])
    if (writer.size > 0 || gone.size > 0) await written()
    const replaced = isNew ? (before.segments ?? []) : []
    kept.revision = (await store.changes.complete(project, { before, segments, replaced })) ?? kept.revision
  }

  /** Lets segments be merged, and removed pages be removed from them, in the background. */
  #tidy(kept: Kept, project: string, refs: readonly PageSegmentRef[]): void {
    const { store, clock, log } = this.#parts
    const { segments } = store.changes
    const live = kept.index.size
    const isDue = isWasteful(refs, { live, now: clock.now() })
    if (!isDue && mergeable(refs) === null) return
    const work = isDue ? segments.compact(project) : segments.merge(project)
    work.catch((err: unknown) => log?.warn({ err, project }, 'segments of pages are merged later'))
  }
}
