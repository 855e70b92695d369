import type { Table } from '#records/table.ts'
import {
  type DocumentSegment,
  SegmentIds,
  standing,
  standingsIn,
  UnknownFormat,
  wholeSegment,
} from '#retrieval/index.ts'
import { nextSlice, runInSlices } from '#src/concurrency/run-in-slices.ts'
import { projectScope } from '#storage/index.ts'
import { type SegmentBlobs, SegmentGone } from './segment-blobs.ts'
import { hasSettled, isSettled, maxPassages, mergeable } from './segment-refs.ts'
import type {
  IndexedRow,
  IndexPlace,
  IndexState,
  LoadedIndex,
  SegmentRef,
  SegmentWriter,
  StoredIndex,
} from './stored-index.ts'

export interface IndexParts<Row extends IndexedRow, Index extends LoadedIndex<Row>, Segment extends DocumentSegment> {
  readonly declaration: StoredIndex<Row, Index, Segment>
  readonly states: Table<IndexState>
  readonly blobs: SegmentBlobs
  readonly now: () => number
  /** Whether this process merges the segments of a project; absent: of all. */
  readonly isOurs?: (project: string) => boolean
}

/** A segment that is to be stored, with the revisions that it has. */
export interface NewSegment<Row extends IndexedRow> {
  readonly writer: Pick<SegmentWriter<Row>, 'written' | 'finished'>
  readonly from: number
  readonly to: number
}

/** Replaces segments by others with the same documents and without those that were removed or changed. */
export class IndexSegments<Row extends IndexedRow, Index extends LoadedIndex<Row>, Segment extends DocumentSegment> {
  readonly #parts: IndexParts<Row, Index, Segment>
  readonly #busy = new Map<string, Promise<unknown>>()

  constructor(parts: IndexParts<Row, Index, Segment>) {
    this.#parts = parts
  }

  /** Stores the documents of a writer. */
  async put(place: IndexPlace, { writer, from, to }: NewSegment<Row>): Promise<SegmentRef> {
    const bytes = await runInSlices(writer.finished())
    const { languages, removals, documents, passages, dimensions } = writer.written
    const removed_at = removals.length === 0 ? null : Math.min(...removals.map(([, at]) => at))
    const stored = await this.#parts.blobs.put(place, bytes)
    return { ...stored, from, to, documents, passages, dimensions, removed_at, languages: { ...languages } }
  }

  /** Merges segments of about one size while there are many. */
  async merge(place: IndexPlace): Promise<void> {
    await this.#alone(place, async () => {
      for (;;) {
        const some = mergeable(await this.#refs(place), this.#parts.isOurs?.(place.project) ?? true)
        if (some === null || !(await this.#merged(place, some))) return
      }
    })
  }

  /**
   * Removes what segments still have of documents that were removed or changed, by writing those segments anew. When it
   * resolves, no segment that was named before the call has anything of a document that was removed before it.
   */
  async compact(place: IndexPlace): Promise<void> {
    await this.#alone(place, async () => {
      for (let tries = 1; !(await this.#compacted(place)); tries++)
        if (tries === maxTries) throw new Error(`segments of ${place.id} are replaced all the time, or lost`)
      await this.#parts.blobs.sweep(place, new Set((await this.#refs(place)).map(({ id }) => id)))
    })
  }

  async #compacted(place: IndexPlace): Promise<boolean> {
    const refs = await this.#refs(place)
    const { blobs } = this.#parts
    const known = await unlessGone(async () => {
      const each: (readonly [SegmentRef, Uint8Array])[] = []
      for (const ref of refs) {
        const documents = await blobs.reader(place, ref)('documents')
        if (documents !== undefined) each.push([ref, new SegmentIds({ documents }).alone()])
      }
      return each
    })
    if (known === null) return false
    const segments = known.map(
      ([, documents]) =>
        () =>
          new SegmentIds({ documents }),
    )
    const standings = await runInSlices(standingsIn(segments))
    const areOld = hasSettled(refs, this.#parts.now())
    const some: Rewritten[] = []
    const removals: Removal[] = []
    for (const [at, [ref]] of known.entries()) {
      await nextSlice()
      const own = segments[at]?.().removals ?? []
      const documents = standings[at] ?? new Uint8Array(0)
      const stale = documents.filter((each) => each === standing.replaced || each === standing.removed).length
      const isStale = stale > documents.length * (ref.passages < maxPassages ? 0 : maxReplaced)
      const hasRemoved = documents.includes(standing.removed) || (areOld && own.length > 0)
      if (!isStale && !hasRemoved) continue
      some.push({ ref, documents })
      removals.push(...own)
    }
    const settled = (at: number): boolean => isSettled(at, this.#parts.now())
    return some.length === 0 || this.#rewrite(place, some, new Map(removals.filter(([, at]) => !settled(at))))
  }

  async #alone(place: IndexPlace, work: () => Promise<void>): Promise<void> {
    const key = `${place.project}/${place.id}`
    const before = this.#busy.get(key)
    const turn = before === undefined ? work() : before.then(work, work)
    this.#busy.set(key, turn)
    try {
      await turn
    } finally {
      if (this.#busy.get(key) === turn) this.#busy.delete(key)
    }
  }

  async #refs({ project, id }: IndexPlace): Promise<readonly SegmentRef[]> {
    return (await this.#parts.states.get(projectScope(project), id))?.data.segments ?? []
  }

  /** Writes segments as one. Returns whether they were replaced: another process may have replaced them before. */
  async #merged(place: IndexPlace, refs: readonly SegmentRef[]): Promise<boolean> {
    const loaded: Segment[] = []
    for (const ref of refs) {
      const segment = await unlessGone(() => this.#load(place, ref))
      if (segment === null) return false
      loaded.push(segment)
    }
    const standings = await runInSlices(standingsIn(loaded.map((segment) => () => segment)))
    const some = refs.map((ref, at) => ({ ref, documents: standings[at] ?? new Uint8Array(0), segment: loaded[at] }))
    // removals stay known: other segments may have what they remove
    return this.#rewrite(place, some, new Map(loaded.flatMap(({ removals }) => removals)))
  }

  async #load(place: IndexPlace, ref: SegmentRef): Promise<Segment> {
    return this.#parts.declaration.segment(await wholeSegment(this.#parts.blobs.reader(place, ref)))
  }

  /** Writes segments anew, which are read one by one. Returns as `#merged`. */
  async #rewrite(
    place: IndexPlace,
    some: readonly (Rewritten & { readonly segment?: Segment | undefined })[],
    removals: ReadonlyMap<string, number>,
  ): Promise<boolean> {
    const { blobs, states, declaration } = this.#parts
    const refs = some.map(({ ref }) => ref)
    const span = { from: Math.min(...refs.map(({ from }) => from)), to: Math.max(...refs.map(({ to }) => to)) }
    const written: SegmentRef[] = []
    const isKept = keptOnce()
    let writer = declaration.writer(place)
    writer.written.removals.push(...removals)
    const discard = async (some: readonly SegmentRef[]): Promise<void> => {
      for (const { id } of some) await blobs.remove(place, id)
    }
    for (const { ref, documents, segment: loaded } of some) {
      const segment = loaded ?? (await unlessGone(() => this.#load(place, ref)))
      if (segment === null) {
        await discard(written)
        return false
      }
      const { passages, dimensions } = writer.written
      const isOther = dimensions > 0 && ref.dimensions > 0 && ref.dimensions !== dimensions
      if (passages > 0 && (isOther || passages + segment.lengths.length > 2 * maxPassages)) {
        written.push(await this.put(place, { ...span, writer }))
        writer = declaration.writer(place)
      }
      await runInSlices(writer.copy(segment, isKept(segment, documents)))
    }
    written.push(await this.put(place, { ...span, writer }))
    const old = new Set(refs.map(({ id }) => id))
    let isDone = false
    const edit = ({ data }: { readonly data: IndexState }): IndexState | null => {
      const { segments = [] } = data
      isDone = segments.filter(({ id }) => old.has(id)).length === old.size
      return isDone ? { ...data, segments: [...written, ...segments.filter(({ id }) => !old.has(id))] } : null
    }
    await states.change(projectScope(place.project), place.id, { edit })
    await discard(isDone ? refs : written)
    return isDone
  }
}

const maxTries = 5
/** Share of the documents of a large segment that others may replace before it is written anew. */
const maxReplaced = 0.25

/** Returns null if a segment was replaced while it was read. */
const unlessGone = async <T>(read: () => Promise<T>): Promise<T | null> => {
  try {
    return await read()
  } catch (error) {
    if (error instanceof SegmentGone || error instanceof UnknownFormat) return null
    throw error
  }
}

type Removal = SegmentIds['removals'][number]

/** A segment that is written anew, with the standings of its documents. */
interface Rewritten {
  readonly ref: SegmentRef
  readonly documents: Uint8Array
}

/** Returns which documents of segments are kept that are written anew: of several copies, the first. */
const keptOnce = () => {
  const taken = new Set<string>()
  return ({ ids }: Pick<SegmentIds, 'ids'>, documents: Uint8Array) =>
    (document: number): boolean => {
      const [own, id = ''] = [documents[document], ids[document]]
      if (own !== standing.copied) return own === standing.newest
      return !taken.has(id) && taken.add(id).has(id)
    }
}
