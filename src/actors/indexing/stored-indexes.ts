import type { Logger } from 'pino'
import { type CachedIndex, type DocumentSegment, IndexBound, IndexCache, UnknownFormat } from '#retrieval/index.ts'
import type { Clock } from '#runtime/index.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { ErasedOwner } from '../capability/erased-copies.ts'
import type { IndexChanges } from './index-changes.ts'
import { SegmentGone } from './segment-blobs.ts'
import { covers, isPartial, isWasteful, mergeable, passagesIn } from './segment-refs.ts'
import {
  type IndexedRow,
  type IndexPlace,
  type IndexState,
  type LoadedIndex,
  recheckMs,
  type SegmentRef,
  segmentFormat,
} from './stored-index.ts'

export interface StoredIndexesParts {
  readonly clock: Pick<Clock, 'now' | 'steady'>
  readonly log?: Pick<Logger, 'warn'>
  /** Absent: a bound of their own. */
  readonly bound?: IndexBound | undefined
}

/** Number of passages that are analysed as one segment. */
const segmentPassages = 1_024
/** Number of times that segments are read whose predecessors were replaced meanwhile. */
const maxTries = 3
/** An index is read anew when it has this many times the passages of its segments, or this many segments more. */
const maxExtent = 2
const maxMoreSegments = 64

class Kept<Index extends CachedIndex> {
  index: Index
  /** The changes of all revisions up to this one are in the index. */
  revision = 0
  checkedAt = Number.NEGATIVE_INFINITY
  updating: Promise<void> | null = null

  constructor(index: Index) {
    this.index = index
  }

  get bytes(): number {
    return this.index.bytes
  }
}

/**
 * The indexes of a declaration: a bounded cache of those that this node searches, read from the segments that the
 * processes wrote that changed the documents.
 */
export class StoredIndexes<Row extends IndexedRow, Index extends LoadedIndex<Row>, Segment extends DocumentSegment> {
  readonly #parts: StoredIndexesParts
  readonly #changes: IndexChanges<Row, Index, Segment>
  readonly #cache: IndexCache<Kept<Index>>

  constructor(changes: IndexChanges<Row, Index, Segment>, parts: StoredIndexesParts) {
    this.#parts = parts
    this.#changes = changes
    const load = async (key: string): Promise<Kept<Index>> => {
      const place = placeOf(key)
      const kept = new Kept(changes.declaration.open(place, null))
      await this.#recheck(kept, place)
      return kept
    }
    this.#cache = new IndexCache({ bound: parts.bound ?? new IndexBound(), load })
  }

  /** Estimated memory of all indexes in bytes. */
  get bytes(): number {
    return this.#cache.bytes
  }

  /** Changes an index if it is in memory. */
  update(place: IndexPlace, change: (index: Index) => void): void {
    this.#cache.update(keyOf(place), ({ index }) => change(index))
  }

  /** Drops an index from memory. */
  dropped(place: IndexPlace): void {
    this.#cache.drop(keyOf(place))
  }

  /** Drops the indexes of an erased project, or of a tenant of it. */
  dropErased({ project, tenant, user }: ErasedOwner): void {
    if (user !== null) return
    this.#cache.dropAll((key) => {
      const place = placeOf(key)
      return place.project === project && (tenant === null || place.tenant === tenant)
    })
  }

  /** Returns the index with what was noted a second ago. @param isExact with all that was noted before the call. */
  async of(place: IndexPlace, isExact = false): Promise<Index> {
    const { clock } = this.#parts
    const calledAt = clock.steady()
    const kept = await this.#cache.get(keyOf(place))
    // an update that is in progress may have begun before the call, so there may be a second one
    for (let attempts = 0; attempts < 2; attempts++) {
      const isOld = clock.steady() - kept.checkedAt >= recheckMs
      if (!isOld && !(isExact && kept.checkedAt < calledAt)) break
      kept.updating ??= this.#recheck(kept, place).finally(() => {
        kept.updating = null
      })
      await kept.updating
    }
    return kept.index
  }

  async #recheck(kept: Kept<Index>, place: IndexPlace): Promise<void> {
    const { clock } = this.#parts
    const checkedAt = clock.steady()
    let state = await this.#changes.state(place)
    const isOther = (await kept.index.prepare?.(state?.segments ?? [])) ?? false
    if (isOther || (state !== null && this.#isUsedUp(kept.index, state))) this.#renew(kept, place)
    let isRead = false
    for (let tries = 1; state !== null && !isRead && tries <= maxTries; tries++) {
      isRead = await this.#applied(kept, place, state)
      if (!isRead) state = await this.#changes.state(place)
    }
    if (state === null && this.#changes.declaration.mayLackState) state = { revision: 0 }
    // without one of its segments, which a backup may lack, an index is made from all documents
    if (!isRead) this.#renew(kept, place)
    if (state !== null && (!isRead || isPartial(state, clock.now())))
      await this.#complete(kept, place, { before: state, isNew: !isRead })
    kept.checkedAt = checkedAt
    this.#tidy(kept, place, state?.segments ?? [])
  }

  #isUsedUp({ extent, segments }: Index, { segments: stored = [] }: IndexState): boolean {
    return extent > maxExtent * passagesIn(stored) + segmentPassages || segments > stored.length + maxMoreSegments
  }

  /** Searches in progress keep the index that they began with. */
  #renew(kept: Kept<Index>, place: IndexPlace): void {
    kept.index = this.#changes.declaration.open(place, kept.index)
    kept.revision = 0
  }

  /** Reads the segments of the revisions that the index lacks; false if one was replaced meanwhile. */
  async #applied(kept: Kept<Index>, place: IndexPlace, { segments = [], revision }: IndexState): Promise<boolean> {
    try {
      for (const ref of segments) if (ref.to > kept.revision) await this.#load(kept.index, place, ref)
    } catch (error) {
      if (error instanceof SegmentGone || error instanceof UnknownFormat) return false
      throw error
    }
    if (covers(segments, { after: kept.revision, to: revision })) kept.revision = revision
    return true
  }

  async #load(index: Index, place: IndexPlace, ref: SegmentRef): Promise<void> {
    await index.load(this.#changes.blobs.reader(place, ref))
    await nextSlice()
  }

  /** Compares all documents with the index, and stores what it lacked as segments. */
  async #complete(
    kept: Kept<Index>,
    place: IndexPlace,
    { before, isNew }: { readonly before: IndexState; readonly isNew: boolean },
  ): Promise<void> {
    const gone = new Set(kept.index.ids)
    const segments: SegmentRef[] = []
    let writer = this.#changes.declaration.writer(place)
    const written = async (): Promise<void> => {
      const ref = await this.#changes.segments.put(place, { writer, from: 0, to: 0 })
      segments.push(ref)
      writer = this.#changes.declaration.writer(place)
      await this.#load(kept.index, place, ref)
    }
    for await (const row of this.#changes.declaration.all(place)) {
      gone.delete(row.id)
      if (kept.index.has(row)) continue
      await writer.add(row, () => kept.index.language)
      if (writer.written.passages >= segmentPassages) await written()
      else await nextSlice()
    }
    for (const id of gone) writer.written.removals.push([id, this.#parts.clock.now()])
    const { segments: known = [] } = before
    // revisions that no segment has need one, although it is empty
    const isCovered = before.revision === 0 || (!isNew && covers(known, { after: 0, to: before.revision }))
    if (writer.written.documents > 0 || gone.size > 0 || !(isCovered || segments.length > 0)) await written()
    if (segments.length === 0 && before.revision === 0) return
    if (isNew && known.some(({ format = 0 }) => format > segmentFormat)) {
      // a later version of this program writes this index: this process keeps its own in memory
      for (const { id } of segments) await this.#changes.blobs.remove(place, id)
      kept.revision = before.revision
      return
    }
    const replaced = isNew ? known : []
    kept.revision = (await this.#changes.complete(place, { before, segments, replaced })) ?? kept.revision
  }

  /** Lets segments be merged, and removed documents be removed from them, in the background. */
  #tidy(kept: Kept<Index>, place: IndexPlace, refs: readonly SegmentRef[]): void {
    const { clock, log } = this.#parts
    const { segments } = this.#changes
    const isDue = isWasteful(refs, { live: kept.index.size, now: clock.now() })
    if (!isDue && mergeable(refs, this.#changes.isOurs(place.project)) === null) return
    const work = isDue ? segments.compact(place) : segments.merge(place)
    work.catch((err: unknown) => log?.warn({ err, index: place.id }, 'segments of an index are merged later'))
  }
}

const keyOf = ({ project, tenant, id }: IndexPlace): string => [project, tenant ?? '', id].join('/')

const placeOf = (key: string): IndexPlace => {
  const [project = '', tenant = '', id = ''] = key.split('/')
  return { project, tenant: tenant === '' ? null : tenant, id }
}
