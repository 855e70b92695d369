import { SegmentGone } from '#actors/indexing/segment-blobs.ts'
import { maxPassages } from '#actors/indexing/segment-refs.ts'
import type { IndexPlace, IndexState, SegmentRef } from '#actors/indexing/stored-index.ts'
import {
  type PackedPage,
  PageSegment,
  packedPage,
  SegmentIds,
  summaryOf,
  UnknownFormat,
  wholeSegment,
} from '#retrieval/index.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { SearchDocument, SearchIndex } from '#storage/index.ts'
import type { PageStore } from '../store/page-store.ts'
import { isJoined, JoinedNotes, joinedOf } from './joined-notes.ts'
import { facetsOfPage } from './page-filter.ts'
import type { PageTablesParts } from './page-tables.ts'

/** Number of pages that are stored at once. */
const pagesEach = 256
/** Time in ms after which a process that stores all pages claims that again. */
const claimedMs = 15_000

interface Followed {
  readonly place: IndexPlace
  readonly index: SearchIndex
  /** Whether the engine has nothing of it: this process has claimed to store all pages. */
  readonly isNew: boolean
}

/**
 * Stores in an engine what it lacks of the segments of an index, and what has to be known of all pages: the summaries of
 * large segments, which seldom change, are joined.
 */
export class PageFollower {
  readonly #parts: PageTablesParts
  readonly #followed: Followed
  readonly #stored = new Set<string>()
  readonly #summaries = new Map<string, Uint8Array>()
  /** Absent if it has none. */
  readonly #claim: Claim | undefined

  constructor(parts: PageTablesParts, followed: Followed, claim?: Claim) {
    this.#parts = parts
    this.#followed = followed
    this.#claim = claim
  }

  async follow(): Promise<void> {
    const { engine, store } = this.#parts
    const { index, place, isNew } = this.#followed
    const noted = (await engine.notes(index)) ?? { step: 0, names: new Set<string>() }
    const joined = await this.#joined(noted.names)
    for (;;) {
      const state = await store.changes.state(place)
      if (state === null) return
      try {
        await this.#apply(state, noted, joined)
        return
      } catch (error) {
        if (!(error instanceof SegmentGone || error instanceof UnknownFormat)) throw error
        // it was replaced meanwhile: the one that did so follows
        if (!isNew || error instanceof UnknownFormat) return
      }
    }
  }

  async #apply({ segments = [], revision }: IndexState, { step, names }: Noted, joined: JoinedNotes): Promise<void> {
    const { engine, store } = this.#parts
    const { place, index, isNew } = this.#followed
    joined.keep(new Set(segments.map(({ id }) => id)))
    for (const ref of segments) await this.#follow(ref, { step, names }, joined)
    const added = new Map(this.#summaries)
    const kept = segments.flatMap(({ id }) => (names.has(id) && !joined.has(id) ? [id] : []))
    for (const { name, summary } of joined.all) {
      if (names.has(name)) kept.push(name)
      else added.set(name, summary)
    }
    if (added.size === 0 && step === revision && kept.length === names.size) return
    await engine.remove(index, await removedIn(store.changes, place, segments))
    this.#claim?.check()
    await engine.note(index, { step: revision, added, kept, isNew })
  }

  /** Stores pages of a segment that are later than what was noted, and what has to be known of all of them. */
  async #follow(ref: SegmentRef, { step, names }: Noted, joined: JoinedNotes): Promise<void> {
    const { store, joinedFrom = maxPassages } = this.#parts
    const { id, to, passages } = ref
    const isLarge = passages >= joinedFrom
    const isSummed = isLarge ? joined.has(id) : names.has(id) || this.#summaries.has(id)
    const isStored = isSummed || this.#stored.has(id) || to <= step
    if (isSummed && isStored) return
    const segment = new PageSegment(await wholeSegment(store.changes.blobs.reader(this.#followed.place, ref)))
    if (!isStored) await this.#store(to, segment)
    this.#stored.add(id)
    const summary = summaryOf(segment)
    if (isLarge) await joined.add(id, summary)
    else this.#summaries.set(id, summary)
  }

  async #store(step: number, segment: PageSegment): Promise<void> {
    const { engine } = this.#parts
    const { index, isNew } = this.#followed
    for (let from = 0; from < segment.ids.length; from += pagesEach) {
      const pages: SearchDocument[] = []
      for (let page = from; page < Math.min(segment.ids.length, from + pagesEach); page++) {
        pages.push(documentOf(packedPage(segment, page)))
        if (page % 8 === 0) await nextSlice()
      }
      this.#claim?.check()
      if (isNew) await engine.load(index, pages)
      else await engine.put(index, step, pages)
    }
  }

  async #joined(names: ReadonlySet<string>): Promise<JoinedNotes> {
    const { engine, joinedBytes } = this.#parts
    return new JoinedNotes(
      joinedOf(await engine.readNotes(this.#followed.index, [...names].filter(isJoined))),
      joinedBytes,
    )
  }
}

/** Claims a place as long as this process stores all its pages, however long the engine takes for some. */
export class Claim {
  readonly #parts: PageTablesParts
  readonly #place: IndexPlace
  #isLost = false
  #renewed: Promise<void> = Promise.resolve()
  #cancel: () => void

  /** @param place claimed a moment before. */
  constructor(parts: PageTablesParts, place: IndexPlace) {
    this.#parts = parts
    this.#place = place
    this.#cancel = this.#later()
  }

  /** @throws {Error} if another process has claimed the place. */
  check(): void {
    if (this.#isLost) throw new Error('another process stores all pages')
  }

  async release(): Promise<void> {
    this.#cancel()
    await this.#renewed
    this.#cancel()
    await this.#parts.store.changes.release(this.#place)
  }

  #later(): () => void {
    return this.#parts.clock.after(claimedMs, () => {
      this.#renewed = this.#renew()
    })
  }

  async #renew(): Promise<void> {
    // one that cannot be reached is claimed again before the claim ends
    this.#isLost = !(await this.#parts.store.changes.claim(this.#place).catch(() => true))
    if (!this.#isLost) this.#cancel = this.#later()
  }
}

interface Noted {
  readonly step: number
  readonly names: ReadonlySet<string>
}

/** Returns the ids of all removed pages that segments still know: a merged one may bring back what another removes. */
export const removedIn = async (
  { blobs }: PageStore['changes'],
  place: IndexPlace,
  refs: readonly SegmentRef[],
): Promise<readonly string[]> => {
  const ids: string[] = []
  for (const ref of refs) {
    const documents = ref.removed_at === null ? undefined : await blobs.reader(place, ref)('documents')
    if (documents !== undefined) ids.push(...new SegmentIds({ documents }).removals.map(([id]) => id))
  }
  return ids
}

/** Returns a page as an engine finds it. */
export const documentOf = (page: PackedPage): SearchDocument => ({
  ...page,
  facets: facetsOfPage(page),
  time: page.publishedAt,
})
