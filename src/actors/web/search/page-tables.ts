import type { Logger } from 'pino'
import type { ErasedOwner } from '#actors/capability/erased-copies.ts'
import { SegmentGone } from '#actors/indexing/segment-blobs.ts'
import { isPartial, isWasteful, passagesIn } from '#actors/indexing/segment-refs.ts'
import { type IndexPlace, type IndexState, type SegmentRef, segmentFormat } from '#actors/indexing/stored-index.ts'
import { RowTurns } from '#records/row-turns.ts'
import {
  IndexBound,
  IndexCache,
  type PackedPage,
  PageCorpus,
  type PageHit,
  PageIndex,
  PageSegment,
  PageSegmentWriter,
  packedPage,
  SegmentIds,
  summaryOf,
  UnknownFormat,
  unpackedPage,
  wholeSegment,
  wordKey,
} from '#retrieval/index.ts'
import type { Clock } from '#runtime/index.ts'
import { within } from '#runtime/internal.ts'
import { nextSlice, runInSlices } from '#src/concurrency/run-in-slices.ts'
import type { SearchDocument, SearchIndex, SearchStore } from '#storage/index.ts'
import { findableRow } from '../store/findable-row.ts'
import type { PageStore, WebPageRow } from '../store/page-store.ts'
import { type FilteredQuery, facetsOf, facetsOfPage } from './page-filter.ts'

export interface PageTablesParts {
  readonly engine: SearchStore
  readonly changes: PageStore['changes']
  readonly clock: Pick<Clock, 'now' | 'steady' | 'after'>
  readonly log?: Pick<Logger, 'warn'>
  /** Absent: a bound of their own. */
  readonly bound?: IndexBound | undefined
  /** Number of passages by words, and by the vector, among which the best are found. */
  readonly candidates?: number
}

const defaultCandidates = 200
/** Maximum age in ms of what is known of a corpus. */
const recheckMs = 1_000
/** Time in ms after which a node applies changes that the process that made them has not applied. */
const lateMs = 5_000
/** Time in ms for which an engine that failed is not used. */
const restMs = 30_000
/** Longest time in ms that a search, and a change of pages, waits for an engine: one that does not answer is not used. */
const [searchMs, followMs] = [2_000, 10_000]
/** Number of pages that are stored at once. */
const pagesEach = 256

/** What is known of the pages of a project. */
class Known {
  index: SearchIndex | null = null
  summaries: ReadonlyMap<string, Uint8Array> = new Map()
  corpus = new PageCorpus([])
  /** Revision of which the engine has all pages. */
  applied = 0
  checkedAt = Number.NEGATIVE_INFINITY
  /** Since when changes are missing; null while none are. */
  lateSince: number | null = null
  checking: Promise<void> | null = null

  get bytes(): number {
    return this.corpus.bytes
  }
}

/**
 * The pages of large corpora in an engine outside of the process, which finds candidates. They are ranked as in an index
 * in memory, with the frequencies of words in the whole corpus. It follows the segments: the process that changes pages applies
 * the segments that it wrote, and what was applied is noted after. So an interrupted change is applied again, and pages
 * that the engine lacks are only not found for as long.
 */
export class PageTables {
  readonly #parts: PageTablesParts
  readonly #turns = new RowTurns()
  readonly #known: IndexCache<Known>
  #offUntil = Number.NEGATIVE_INFINITY

  constructor(parts: PageTablesParts) {
    this.#parts = parts
    this.#known = new IndexCache({ bound: parts.bound ?? new IndexBound(), load: async () => new Known() })
  }

  /** Finds pages; null where the engine does not have them, or cannot be reached. */
  async search(place: IndexPlace, query: FilteredQuery): Promise<readonly PageHit[] | null> {
    const { clock } = this.#parts
    if (this.#isOff) return null
    return this.#unlessDown(place, () => within(clock, searchMs, this.#found(place, query)))
  }

  async #found(place: IndexPlace, query: FilteredQuery): Promise<readonly PageHit[] | null> {
    const { engine, candidates = defaultCandidates } = this.#parts
    const { index, corpus } = await this.#upToDate(place)
    if (index === null) return null
    const { text, vector, filter } = query
    const found = await engine.candidates(index, {
      ...{ words: corpus.wordsOf(text).map(wordKey), vector, limit: candidates },
      ...{ facets: facetsOf(filter), since: filter?.since ?? null },
    })
    const pages = new PageIndex(corpus)
    // of equal pages the one that was added first comes first, as in an index in memory
    for (const { content } of found.toSorted((a, b) => (a.id < b.id ? -1 : 1))) pages.attach(unpackedPage(content))
    return pages.search(query)
  }

  /** Applies the changes of the segments. It goes on after the promise has resolved if it takes long. */
  async follow(place: IndexPlace): Promise<void> {
    if (this.#isOff) return
    const done = this.#unlessDown(place, () => this.#turns.take(place.id, () => this.#followed(place)))
    await within(this.#parts.clock, followMs, done).catch(() => {})
  }

  get #isOff(): boolean {
    return this.#parts.clock.steady() < this.#offUntil
  }

  /** Removes all that the engine has of removed pages, with its files. It is made again from the segments. */
  async purge(place: IndexPlace): Promise<void> {
    await this.#parts.changes.purged(place)
    const dropped = this.#turns.take(place.id, () => this.#parts.engine.drop(place.project, null))
    await within(this.#parts.clock, followMs, dropped)
    this.#known.drop(keyOf(place))
    void this.follow(place)
  }

  /** Drops what this node knows of the pages of an erased project. */
  dropErased({ project, tenant }: ErasedOwner): void {
    if (tenant === null) this.#known.dropAll((key) => key.startsWith(`${project}/`))
  }

  /** Stores pages that were found to be of another version, and removes those that do not exist. */
  async correct(place: IndexPlace, rows: readonly WebPageRow[], gone: readonly string[]): Promise<void> {
    await this.#unlessDown(place, () => within(this.#parts.clock, searchMs, this.#corrected(place, rows, gone)))
  }

  async #corrected(place: IndexPlace, rows: readonly WebPageRow[], gone: readonly string[]): Promise<void> {
    const { index, applied } = await this.#upToDate(place)
    if (index === null) return
    const pages: SearchDocument[] = []
    for (const row of rows) {
      const writer = new PageSegmentWriter()
      writer.add(findableRow(row), () => 'en')
      pages.push(documentOf(packedPage(new PageSegment(await runInSlices(writer.finished())), 0)))
    }
    // also where it has a later version, as after a backup was restored
    await this.#parts.engine.remove(index, [...gone, ...rows.map(({ id }) => id)])
    await this.#parts.engine.put(index, applied + 1, pages)
    const state = await this.#parts.changes.state(place)
    // as in `#followed`
    if (state === null || nameOf(place, state) !== index.name)
      await this.#parts.engine.drop(place.project, this.#indexOf(place, state))
  }

  async #unlessDown<T>(place: IndexPlace, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (err) {
      this.#offUntil = this.#parts.clock.steady() + restMs
      // it may wait for an answer that never comes
      this.#known.drop(keyOf(place))
      this.#parts.log?.warn({ err, index: place.id }, 'pages are searched in this process')
      return null
    }
  }

  async #upToDate(place: IndexPlace): Promise<Known> {
    const known = await this.#known.get(keyOf(place))
    if (this.#parts.clock.steady() - known.checkedAt < recheckMs) return known
    known.checking ??= this.#check(place, known).finally(() => {
      known.checking = null
    })
    await known.checking
    return known
  }

  async #check(place: IndexPlace, known: Known): Promise<void> {
    const { engine, changes, clock } = this.#parts
    const checkedAt = clock.steady()
    const state = await changes.state(place)
    const index = this.#indexOf(place, state)
    const { step: applied, names } = (index === null ? null : await engine.notes(index)) ?? { step: 0, names: noNames }
    known.applied = applied
    // a process that was slower than another has removed the other's notes
    const lacksNotes = state?.segments?.some(({ id }) => !names.has(id)) ?? false
    const isBehind = index !== null && (lacksNotes || applied < (state?.revision ?? 0))
    known.lateSince = isBehind ? (known.lateSince ?? checkedAt) : null
    if (known.lateSince !== null && checkedAt - known.lateSince >= lateMs) {
      // the next one not before this one has had time
      known.lateSince = checkedAt
      void this.follow(place)
    }
    if (index === null || applied === 0) known.index = null
    else await this.#read(known, index, names)
    known.checkedAt = checkedAt
  }

  async #read(known: Known, index: SearchIndex, names: ReadonlySet<string>): Promise<void> {
    const isSame = known.index?.name === index.name && known.index.dimensions === index.dimensions
    const before = isSame ? known.summaries : new Map<string, Uint8Array>()
    const wanted = [...names]
    const missing = wanted.filter((name) => !before.has(name))
    if (isSame && missing.length === 0 && wanted.length === before.size) return
    const read = await this.#parts.engine.readNotes(index, missing)
    const summaries = wanted.flatMap((name) => {
      const summary = before.get(name) ?? read.get(name)
      return summary === undefined ? [] : [[name, summary] as const]
    })
    known.summaries = new Map(summaries)
    known.corpus = new PageCorpus(known.summaries.values())
    known.index = index
  }

  /** Returns the index of a corpus; null when it is small, or its segments are not whole. */
  #indexOf(place: IndexPlace, state: IndexState | null): SearchIndex | null {
    const { engine, clock } = this.#parts
    const { segments = [] } = state ?? {}
    if (state === null || passagesIn(segments) < engine.min || isPartial(state, clock.now())) return null
    if (segments.some(({ format }) => format !== segmentFormat)) return null
    const latest = segments.toSorted((a, b) => b.to - a.to).find(({ dimensions }) => dimensions > 0)
    return { project: place.project, name: nameOf(place, state), dimensions: latest?.dimensions ?? 0 }
  }

  async #followed(place: IndexPlace): Promise<void> {
    const { engine, changes } = this.#parts
    for (let state = await changes.state(place); ; ) {
      const index = this.#indexOf(place, state)
      if (state === null || index === null) return
      await engine.drop(place.project, index)
      await this.#applied(place, state, index)
      const [{ purges }, now] = [state, await changes.state(place)]
      if (now !== null && now.purges === purges) return
      // pages, or the whole project, were removed meanwhile with their table, which this has made again with them
      await engine.drop(place.project, this.#indexOf(place, now))
      state = now
    }
  }

  async #applied(place: IndexPlace, { segments = [], revision }: IndexState, index: SearchIndex): Promise<void> {
    const { engine, changes, clock } = this.#parts
    const { step: applied, names } = (await engine.notes(index)) ?? { step: 0, names: noNames }
    const isKnown = applied === revision && names.size === segments.length
    if (isKnown && segments.every(({ id }) => names.has(id))) return
    const kept = [...names].filter((name) => segments.some(({ id }) => id === name))
    try {
      const added = new Map<string, Uint8Array>()
      for (const ref of segments) {
        if (names.has(ref.id)) continue
        const segment = new PageSegment(await wholeSegment(changes.blobs.reader(place, ref)))
        if (ref.to > applied) await this.#put(index, ref.to, segment)
        added.set(ref.id, summaryOf(segment))
      }
      await engine.remove(index, await this.#removedIn(place, segments))
      await engine.note(index, { step: revision, added, kept })
    } catch (error) {
      // it was replaced meanwhile: the one that did so follows
      if (error instanceof SegmentGone || error instanceof UnknownFormat) return
      throw error
    }
    const live = await engine.count(index)
    if (isWasteful(segments, { live, now: clock.now() })) await changes.segments.compact(place)
  }

  async #put(index: SearchIndex, step: number, segment: PageSegment): Promise<void> {
    for (let from = 0; from < segment.ids.length; from += pagesEach) {
      const pages: SearchDocument[] = []
      for (let page = from; page < Math.min(segment.ids.length, from + pagesEach); page++) {
        pages.push(documentOf(packedPage(segment, page)))
        if (page % 8 === 0) await nextSlice()
      }
      await this.#parts.engine.put(index, step, pages)
    }
  }

  /** Returns the ids of all removed pages that segments still know: a merged one may bring back what another removes. */
  async #removedIn(place: IndexPlace, refs: readonly SegmentRef[]): Promise<readonly string[]> {
    const ids: string[] = []
    for (const ref of refs) {
      const documents =
        ref.removed_at === null ? undefined : await this.#parts.changes.blobs.reader(place, ref)('documents')
      if (documents !== undefined) ids.push(...new SegmentIds({ documents }).removals.map(([id]) => id))
    }
    return ids
  }
}

const nameOf = ({ id }: IndexPlace, { purges = 0 }: IndexState): string => `${id} ${purges} ${segmentFormat}`

const documentOf = (page: PackedPage): SearchDocument => ({
  ...page,
  facets: facetsOfPage(page),
  time: page.publishedAt,
})

const noNames: ReadonlySet<string> = new Set()

const keyOf = ({ project, id }: IndexPlace): string => `${project}/${id}`
