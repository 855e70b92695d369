import type { Table } from '#records/table.ts'
import { PageSegment, PageSegmentWriter, type SegmentBytes } from '#retrieval/index.ts'
import { runInSlices } from '#src/concurrency/run-in-slices.ts'
import { projectScope } from '#storage/index.ts'
import type { PageSegmentRef, WebCorpusData } from '../kinds.ts'
import { type SegmentBlobs, SegmentGone } from './segment-blobs.ts'
import { hasSettled, isSettled, maxPages, mergeable } from './segment-refs.ts'

export interface CorpusSegmentsParts {
  readonly corpora: Table<WebCorpusData>
  readonly blobs: SegmentBlobs
  readonly now: () => number
}

/** A segment that is to be stored, with the revisions that it has. */
export interface NewSegment {
  readonly writer: PageSegmentWriter
  readonly from: number
  readonly to: number
}

/** Replaces segments by others with the same pages and without those that were removed or changed. */
export class CorpusSegments {
  readonly #parts: CorpusSegmentsParts
  readonly #busy = new Map<string, Promise<unknown>>()

  constructor(parts: CorpusSegmentsParts) {
    this.#parts = parts
  }

  /** Stores the pages of a writer. */
  async put(project: string, { writer, from, to }: NewSegment): Promise<PageSegmentRef> {
    const bytes = await runInSlices(writer.finished())
    const { languages, removals, size: pages } = writer
    const removed_at = removals.length === 0 ? null : Math.min(...removals.map(([, at]) => at))
    return { ...(await this.#parts.blobs.put(project, bytes)), from, to, pages, removed_at, languages }
  }

  /** Merges segments of about one size while there are many, and all when pages were removed some time ago. */
  async merge(project: string): Promise<void> {
    await this.#alone(project, async () => {
      for (;;) {
        const refs = await this.#refs(project)
        const areAll = hasSettled(refs, this.#parts.now())
        const some = areAll ? refs : mergeable(refs)
        if (some === null || !(await this.#rewrite(project, some, areAll))) return
      }
    })
  }

  /**
   * Removes what segments still have of pages that were removed or changed. When it resolves, no segment that was named
   * before the call has anything of a page that was removed before it.
   */
  async compact(project: string): Promise<void> {
    await this.#alone(project, async () => {
      for (let tries = 1; !(await this.#rewrite(project, await this.#refs(project), true)); tries++)
        if (tries === maxTries) throw new Error(`segments of ${project} are replaced all the time, or lost`)
      await this.#parts.blobs.sweep(project, new Set((await this.#refs(project)).map(({ id }) => id)))
    })
  }

  async #alone(project: string, work: () => Promise<void>): Promise<void> {
    const before = this.#busy.get(project)
    const turn = before === undefined ? work() : before.then(work, work)
    this.#busy.set(project, turn)
    try {
      await turn
    } finally {
      if (this.#busy.get(project) === turn) this.#busy.delete(project)
    }
  }

  async #refs(project: string): Promise<readonly PageSegmentRef[]> {
    return (await this.#corpus(project))?.segments ?? []
  }

  async #corpus(project: string): Promise<WebCorpusData | null> {
    return (await this.#parts.corpora.get(projectScope(project), corpusId(project)))?.data ?? null
  }

  /**
   * Writes segments anew. Returns whether they were replaced: another process may have replaced them before.
   *
   * @param areAll whether they are all of the corpus, so that none has a page that is removed here.
   */
  async #rewrite(project: string, refs: readonly PageSegmentRef[], areAll: boolean): Promise<boolean> {
    const { blobs, corpora, now } = this.#parts
    if (refs.length === 0) return true
    const written: PageSegmentRef[] = []
    try {
      const loaded: SegmentBytes[] = []
      for (const ref of refs) loaded.push(await blobs.get(project, ref))
      const live = liveIn(loaded)
      const place = { from: Math.min(...refs.map(({ from }) => from)), to: Math.max(...refs.map(({ to }) => to)) }
      let writer = new PageSegmentWriter()
      writer.removals.push(...[...live.removed].filter(([, at]) => !areAll || !isSettled(at, now())))
      for (const bytes of loaded) {
        const pages = new PageSegment(bytes.pages)
        if (writer.size + pages.ids.length > 2 * maxPages && writer.size > 0) {
          written.push(await this.put(project, { ...place, writer }))
          writer = new PageSegmentWriter()
        }
        const isKept = (page: number) => live.has(pages, page)
        await runInSlices(writer.copy({ pages, passages: pages.passagesIn(bytes.passages) }, isKept))
      }
      written.push(await this.put(project, { ...place, writer }))
    } catch (error) {
      if (error instanceof SegmentGone) return false
      throw error
    }
    const old = new Set(refs.map(({ id }) => id))
    let isDone = false
    const edit = ({ data }: { readonly data: WebCorpusData }): WebCorpusData | null => {
      const { segments = [] } = data
      isDone = segments.filter(({ id }) => old.has(id)).length === old.size
      return isDone ? { ...data, segments: [...written, ...segments.filter(({ id }) => !old.has(id))] } : null
    }
    await corpora.change(projectScope(project), corpusId(project), { edit })
    for (const { id } of isDone ? refs : written) await blobs.remove(project, id)
    return isDone
  }
}

const maxTries = 5

/** Id of the row of a project's corpus. */
export const corpusId = (project: string): string => `wco_${project.slice(project.indexOf('_') + 1)}`

/** The newest version of each page of some segments, and the pages that they remove. */
const liveIn = (loaded: readonly SegmentBytes[]) => {
  const newest = new Map<string, number>()
  const removed = new Map<string, number>()
  for (const { pages } of loaded) {
    const { ids, versions, removals } = new PageSegment(pages)
    for (const [page, id] of ids.entries()) newest.set(id, Math.max(newest.get(id) ?? -1, versions[page] ?? 0))
    for (const [id, at] of removals) removed.set(id, at)
  }
  const has = ({ ids, versions }: PageSegment, page: number): boolean => {
    const id = ids[page] ?? ''
    if (removed.has(id) || newest.get(id) !== versions[page]) return false
    // of two copies of a version, the first is kept
    newest.delete(id)
    return true
  }
  return { removed, has }
}
