import type { Logger } from 'pino'
import type { ErasedOwner } from '#actors/capability/erased-copies.ts'
import { isPartial, isWasteful, livePassages, passagesIn } from '#actors/indexing/segment-refs.ts'
import { type IndexPlace, type IndexState, segmentFormat } from '#actors/indexing/stored-index.ts'
import { RowTurns } from '#records/row-turns.ts'
import {
  IndexBound,
  IndexCache,
  PageCorpus,
  type PageHit,
  PageIndex,
  PageSegment,
  PageSegmentWriter,
  packedPage,
  unpackedPage,
  wordKey,
} from '#retrieval/index.ts'
import type { Clock } from '#runtime/index.ts'
import { within } from '#runtime/internal.ts'
import { maxPagesInMemory } from '#specs/resources/web/web-limits.ts'
import { inShares, runInSlices } from '#src/concurrency/run-in-slices.ts'
import { type SearchDocument, type SearchIndex, type SearchStore, StoreUnavailable } from '#storage/index.ts'
import { findableRow } from '../store/findable-row.ts'
import { storeLatePages } from '../store/late-pages.ts'
import type { PageStore, WebPageRow } from '../store/page-store.ts'
import { isJoined, joinedOf } from './joined-notes.ts'
import { type FilteredQuery, facetsOf } from './page-filter.ts'
import { Claim, documentOf, PageFollower, removedIn } from './page-follower.ts'

export interface PageTablesParts {
  readonly engine: SearchStore
  readonly store: PageStore
  readonly clock: Pick<Clock, 'now' | 'steady' | 'after'>
  readonly log?: Pick<Logger, 'warn'>
  /** Absent: a bound of their own. */
  readonly bound?: IndexBound | undefined
  /** Number of passages by words, and by the vector, among which the best are found. */
  readonly candidates?: number
  /** Number of pages beyond which they are never searched in memory. */
  readonly inMemory?: number | undefined
  /** Number of passages of a segment from which it is summarised together with others. */
  readonly joinedFrom?: number | undefined
  /** Bytes from which a summary of several segments takes no further one. */
  readonly joinedBytes?: number | undefined
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
/** The same of a search that cannot be made in memory. */
const beyondMs = 20_000

/** What is known of the pages of a project. */
class Known {
  index: SearchIndex | null = null
  summaries: ReadonlyMap<string, Uint8Array> = new Map()
  /** Segments of which it has a summary. */
  segments: ReadonlySet<string> = new Set()
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
  /** Of work that takes minutes, beside which changes are applied. */
  readonly #upkeep = new RowTurns()
  /** Projects whose upkeep is tried again, once however many changes they have meanwhile. */
  readonly #waiting = new Set<string>()
  readonly #known: IndexCache<Known>
  #offUntil = Number.NEGATIVE_INFINITY

  constructor(parts: PageTablesParts) {
    this.#parts = parts
    this.#known = new IndexCache({ bound: parts.bound ?? new IndexBound(), load: async () => new Known() })
  }

  /**
   * Finds pages; null where the engine does not have them, or cannot be reached.
   *
   * @throws {StoreUnavailable} where there are too many to search them in memory.
   */
  async search(place: IndexPlace, query: FilteredQuery): Promise<readonly PageHit[] | null> {
    const { clock } = this.#parts
    const found = this.#isOff
      ? null
      : await this.#unlessDown(place, () => within(clock, searchMs, this.#found(place, query)))
    if (found !== null || !(await this.#isBeyondMemory(place))) return found
    // there is no other way, so that it is tried although it has just failed or was slow
    const late = await within(clock, beyondMs, this.#found(place, query)).catch(() => null)
    if (late === null) throw new StoreUnavailable(`the pages of ${place.project} cannot be searched at present`)
    return late
  }

  async #isBeyondMemory(place: IndexPlace): Promise<boolean> {
    const { store, inMemory = maxPagesInMemory } = this.#parts
    return (await store.changes.state(place))?.large === true && (await store.count(place.project)) > inMemory
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
    const inOrder = found.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    for await (const { content } of inShares(inOrder)) pages.attach(unpackedPage(content))
    return pages.search(query)
  }

  /** Applies the changes of the segments. It goes on after the promise has resolved if it takes long. */
  async follow(place: IndexPlace): Promise<void> {
    if (this.#isOff) return
    const done = this.#unlessDown(place, async () => {
      await this.#turns.take(place.id, () => this.#followed(place))
      await this.#tended(place)
    })
    await within(this.#parts.clock, followMs, done).catch(() => {})
  }

  /** Writes files anew that may have something of removed pages, which the caller waits for, or merges many changes. */
  async #tended(place: IndexPlace): Promise<void> {
    const state = await this.#parts.store.changes.state(place)
    const index = await this.#indexOf(place, state)
    if (state === null || index === null) return
    const work = this.#upkeep.take(place.id, () => this.#tend(place, index))
    if (state.erasing !== undefined) await work
    else void work.catch((err: unknown) => this.#parts.log?.warn({ err, index: place.id }, 'pages are merged later'))
  }

  async #tend(place: IndexPlace, index: SearchIndex): Promise<void> {
    const { engine, store, clock } = this.#parts
    const { changes } = store
    const isDue = async () => (await changes.state(place))?.erasing !== undefined || (await engine.hasMany(index))
    if (!(await isDue())) return
    const isOurs = await this.#alone(place, async () => {
      const before = await changes.state(place)
      const erasing = before?.erasing
      if (erasing !== undefined) {
        await engine.erase(index, erasing)
        await changes.erasing(place, erasing, true)
      }
      await engine.merge(index)
      await this.#cleared(place, before)
    })
    // another process merges changes, after which it is to be done
    if (isOurs || this.#waiting.has(place.project)) return
    this.#waiting.add(place.project)
    clock.after(lateMs, () => {
      this.#waiting.delete(place.project)
      void this.follow(place)
    })
  }

  /** Does work that one process does at a time. Returns whether this one has. */
  async #alone(place: IndexPlace, work: (claim: Claim) => Promise<void>): Promise<boolean> {
    if (!(await this.#parts.store.changes.claim(place))) return false
    const claim = new Claim(this.#parts, place)
    try {
      await work(claim)
    } finally {
      await claim.release()
    }
    return true
  }

  get #isOff(): boolean {
    return this.#parts.clock.steady() < this.#offUntil
  }

  /**
   * Removes all that the engine has of removed pages, with its files. It is made again from the segments. The files of a
   * large index are written anew in the background, because that takes minutes; its pages are not found meanwhile.
   */
  async purge(place: IndexPlace): Promise<void> {
    const { store, engine, clock } = this.#parts
    await store.changes.purged(place)
    const state = await store.changes.state(place)
    if (state?.large) {
      await store.changes.erasing(place, await removedIn(store.changes, place, state.segments ?? []))
      await this.follow(place)
      return
    }
    const dropped = this.#turns.take(place.id, () => engine.drop(place.project, null))
    await within(clock, followMs, dropped)
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
    const { engine, store } = this.#parts
    const before = await store.changes.state(place)
    // also where it has a later version, as after a backup was restored
    await engine.remove(index, [...gone, ...rows.map(({ id }) => id)])
    await engine.put(index, applied + 1, pages)
    if ((await this.#cleared(place, before)) !== null) void this.follow(place)
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
    const { engine, store, clock } = this.#parts
    const checkedAt = clock.steady()
    const state = await store.changes.state(place)
    const index = await this.#indexOf(place, state)
    const { step: applied, names } = (index === null ? null : await engine.notes(index)) ?? { step: 0, names: noNames }
    known.applied = applied
    if (index === null || applied === 0) known.index = null
    else await this.#read(known, index, names)
    // a process that was slower than another has removed the other's notes
    const lacksNotes = state?.segments?.some(({ id }) => !known.segments.has(id)) ?? false
    const isLate = state !== null && (lacksNotes || applied < state.revision || isPartial(state, clock.now()))
    const isBehind = index !== null && (isLate || state?.erasing !== undefined)
    known.lateSince = isBehind ? (known.lateSince ?? checkedAt) : null
    if (known.lateSince !== null && checkedAt - known.lateSince >= lateMs) {
      // the next one not before this one has had time
      known.lateSince = checkedAt
      void this.follow(place)
    }
    known.checkedAt = checkedAt
  }

  async #read(known: Known, index: SearchIndex, names: ReadonlySet<string>): Promise<void> {
    const isSame = known.index?.name === index.name && known.index.dimensions === index.dimensions
    const before = isSame ? known.summaries : new Map<string, Uint8Array>()
    const missing = [...names].filter((name) => !before.has(name))
    if (isSame && missing.length === 0 && names.size === before.size) return
    const read = await this.#parts.engine.readNotes(index, missing)
    const all = new Map([...before, ...read].filter(([name]) => names.has(name)))
    const single = [...all].flatMap(([name, summary]) => (isJoined(name) ? [] : [{ summary, of: [name] }]))
    const summaries = [...joinedOf(all), ...single]
    known.summaries = all
    known.segments = new Set(summaries.flatMap(({ of }) => of))
    known.corpus = new PageCorpus(summaries.map(({ summary }) => summary))
    known.index = index
  }

  /**
   * Returns the index of a corpus; null when it is small, or its segments are not whole. One that is large has the same
   * whatever happens: it is never searched in memory.
   */
  async #indexOf(place: IndexPlace, state: IndexState | null): Promise<SearchIndex | null> {
    const { engine, clock, store } = this.#parts
    const { segments = [] } = state ?? {}
    if (state === null) return null
    if (!state.large) {
      if (segments.some(({ format }) => format !== segmentFormat) || isPartial(state, clock.now())) return null
      if (passagesIn(segments) < engine.min) return null
      if (livePassages(segments, await store.count(place.project)) < engine.min) return null
    }
    const latest = segments.toSorted((a, b) => b.to - a.to).find(({ dimensions }) => dimensions > 0)
    return { project: place.project, name: nameOf(place, state), dimensions: latest?.dimensions ?? 0 }
  }

  async #followed(place: IndexPlace): Promise<void> {
    const { engine } = this.#parts
    for (let state = await this.#whole(place); ; ) {
      const index = await this.#indexOf(place, state)
      if (state === null || index === null) return
      await engine.drop(place.project, index)
      if (!(await this.#applied(place, index))) return
      const now = await this.#cleared(place, state)
      if (now === null) return
      state = now
    }
  }

  /** Returns the state after what its segments lack was stored, where that is not done in memory. */
  async #whole(place: IndexPlace): Promise<IndexState | null> {
    const { store, clock, inMemory = maxPagesInMemory } = this.#parts
    const state = await store.changes.state(place)
    if (state === null) return null
    if (!state.large) {
      if (passagesIn(state.segments ?? []) < inMemory / 2 || (await store.count(place.project)) < inMemory / 2)
        return state
      await store.changes.enlarged(place)
    }
    await storeLatePages(store, place, { state, now: clock.now() })
    return store.changes.state(place)
  }

  /**
   * Removes what was stored again of pages that were purged meanwhile, or of a removed project; from a large index later.
   *
   * @returns the state if something was.
   */
  async #cleared(place: IndexPlace, before: IndexState | null): Promise<IndexState | null> {
    const { engine, store } = this.#parts
    const now = await store.changes.state(place)
    if (now !== null && now.purges === before?.purges) return null
    if (now?.large) await store.changes.erasing(place, await removedIn(store.changes, place, now.segments ?? []))
    else await engine.drop(place.project, await this.#indexOf(place, now))
    return now
  }

  /** Applies the segments. Returns whether it has, or there is nothing to do: another process may be storing all pages. */
  async #applied(place: IndexPlace, index: SearchIndex): Promise<boolean> {
    const { engine, store, clock } = this.#parts
    const { changes } = store
    const isNew = (await engine.notes(index)) === null
    const follow = (claim?: Claim) => new PageFollower(this.#parts, { place, index, isNew }, claim).follow()
    const storeAll = (claim: Claim) => engine.drop(place.project, null).then(() => follow(claim))
    if (!isNew) await follow()
    else if (!(await this.#upkeep.take(place.id, () => this.#alone(place, storeAll)))) return false
    const { segments = [] } = (await changes.state(place)) ?? {}
    const live = await store.count(place.project)
    if (isWasteful(segments, { live, now: clock.now() })) await changes.segments.compact(place)
    return true
  }
}

const nameOf = ({ id }: IndexPlace, { purges = 0, large }: IndexState): string =>
  `${id} ${large ? 'large' : purges} ${segmentFormat}`

const noNames: ReadonlySet<string> = new Set()

const keyOf = ({ project, id }: IndexPlace): string => `${project}/${id}`
