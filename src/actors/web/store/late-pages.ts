import { changePrefix } from '#actors/indexing/index-changes.ts'
import { abandoned, covers, languageOf, maxPassages } from '#actors/indexing/segment-refs.ts'
import { type IndexPlace, type IndexState, type SegmentRef, segmentFormat } from '#actors/indexing/stored-index.ts'
import { PageSegmentWriter } from '#retrieval/index.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import { findableRow } from './findable-row.ts'
import type { PageStore, WebPageRow } from './page-store.ts'

/**
 * Stores as segments what they lack of pages, in the memory of one segment: what processes have changed that ended before
 * they noted it, which is found by the names that pages and removals have of them; or all pages, where that is not enough.
 */
export const storeLatePages = async (
  store: PageStore,
  place: IndexPlace,
  { state, now }: { readonly state: IndexState; readonly now: number },
): Promise<void> => {
  const { changes } = store
  const { segments: refs = [], removing = {}, revision } = state
  const lost = abandoned(state, now)
  const isKnown = refs.every(({ format }) => format === segmentFormat) && covers(refs, { after: 0, to: revision })
  if (isKnown && lost.length === 0) return
  const segments = new LateSegments(store, place, refs)
  if (isKnown && lost.every((process) => process.startsWith(changePrefix))) {
    for (const process of lost) await segments.add(store.all(place.project, process))
    const ids = lost.flatMap((process) => removing[process] ?? [])
    const existing = await store.getMany(place.project, ids)
    await changes.complete(place, {
      ...{ before: state, replaced: [] },
      segments: await segments.finished(ids.filter((id) => !existing.has(id)).map((id) => [id, now])),
    })
    return
  }
  // a later version of this program writes this index
  if (refs.some(({ format = 0 }) => format > segmentFormat)) return
  await segments.add(store.all(place.project))
  await changes.complete(place, { before: state, segments: await segments.finished([]), replaced: refs })
}

class LateSegments {
  readonly #store: PageStore
  readonly #place: IndexPlace
  readonly #language: ReturnType<typeof languageOf>
  readonly #stored: SegmentRef[] = []
  #writer = new PageSegmentWriter()

  constructor(store: PageStore, place: IndexPlace, refs: readonly SegmentRef[]) {
    this.#store = store
    this.#place = place
    this.#language = languageOf(refs)
  }

  async add(rows: AsyncIterable<WebPageRow>): Promise<void> {
    for await (const row of rows) {
      this.#writer.add(findableRow(row), () => this.#language)
      if (this.#writer.written.passages >= maxPassages) await this.#put()
      await nextSlice()
    }
  }

  /** Returns all segments: one at least, which has the removals. */
  async finished(removals: readonly (readonly [id: string, at: number])[]): Promise<readonly SegmentRef[]> {
    for (const [id, at] of removals) this.#writer.written.removals.push([id, at])
    await this.#put()
    return this.#stored
  }

  async #put(): Promise<void> {
    this.#stored.push(await this.#store.changes.segments.put(this.#place, { writer: this.#writer, from: 0, to: 0 }))
    this.#writer = new PageSegmentWriter()
  }
}
