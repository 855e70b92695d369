import type { Table } from '#records/table.ts'
import { type DocumentSegment, SegmentIds, UnknownFormat, wholeSegment } from '#retrieval/index.ts'
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
        if (some === null || !(await this.#rewrite(place, some, null))) return
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
      const each: (readonly [SegmentRef, KnownIds])[] = []
      for (const ref of refs) {
        const documents = await blobs.reader(place, ref)('documents')
        if (documents === undefined) continue
        const { ids, versions, removals } = new SegmentIds({ documents })
        // its bytes would be kept with the others'
        each.push([ref, { ids, versions: versions.slice(), removals }])
      }
      return each
    })
    if (known === null) return false
    const live = await liveIn(known.map(([, segment]) => segment))
    const areOld = hasSettled(refs, this.#parts.now())
    const some: SegmentRef[] = []
    const removals: Newest['removals'][number][] = []
    for (const [ref, segment] of known) {
      await nextSlice()
      const stale = segment.ids.filter((_, document) => !live.has(segment, document))
      const isStale = stale.length > segment.ids.length * (ref.passages < maxPassages ? 0 : maxReplaced)
      const hasRemoved = stale.some((id) => live.isRemoved(id)) || (areOld && segment.removals.length > 0)
      if (!isStale && !hasRemoved) continue
      some.push(ref)
      removals.push(...segment.removals)
    }
    return some.length === 0 || this.#rewrite(place, some, { live, removals })
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

  /**
   * Writes segments anew. Returns whether they were replaced: another process may have replaced them before.
   *
   * @param all the newest versions in all segments of the index; null: in these, so that removals stay known.
   */
  async #rewrite(place: IndexPlace, refs: readonly SegmentRef[], all: Newest | null): Promise<boolean> {
    const { blobs, states, now, declaration } = this.#parts
    const load = async (ref: SegmentRef) => declaration.segment(await wholeSegment(blobs.reader(place, ref)))
    const loaded: Segment[] = []
    // those that are merged are small, others are read one by one
    for (const ref of all === null ? refs : []) {
      const segment = await unlessGone(() => load(ref))
      if (segment === null) return false
      loaded.push(segment)
    }
    const live = all?.live ?? (await liveIn(loaded))
    const own = new Map(all?.removals ?? loaded.flatMap(({ removals }) => removals))
    const span = { from: Math.min(...refs.map(({ from }) => from)), to: Math.max(...refs.map(({ to }) => to)) }
    const written: SegmentRef[] = []
    let writer = declaration.writer(place)
    writer.written.removals.push(...[...own].filter(([, at]) => all === null || !isSettled(at, now())))
    const discard = async (some: readonly SegmentRef[]): Promise<void> => {
      for (const { id } of some) await blobs.remove(place, id)
    }
    for (const [at, ref] of refs.entries()) {
      const segment = loaded[at] ?? (await unlessGone(() => load(ref)))
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
      await runInSlices(writer.copy(segment, (document) => live.take(segment, document)))
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

/** The newest version of each document of some segments without those that they remove. */
interface Live {
  has(segment: KnownIds, document: number): boolean
  /** As `has`, once for a version: of two copies, the first is kept. */
  take(segment: KnownIds, document: number): boolean
  isRemoved(id: string): boolean
}

/** What all segments of an index have: the newest versions, and the removals of those that are written anew. */
interface Newest {
  readonly live: Live
  readonly removals: readonly (readonly [id: string, at: number])[]
}

type KnownIds = Pick<SegmentIds, 'ids' | 'versions' | 'removals'>

const liveIn = async (loaded: readonly KnownIds[]): Promise<Live> => {
  const newest = new Map<string, number>()
  const removed = new Set<string>()
  for (const { ids, versions, removals } of loaded) {
    for (const [at, id] of ids.entries()) newest.set(id, Math.max(newest.get(id) ?? -1, versions[at] ?? 0))
    for (const [id] of removals) removed.add(id)
    await nextSlice()
  }
  const has = ({ ids, versions }: KnownIds, document: number): boolean => {
    const id = ids[document] ?? ''
    return !removed.has(id) && newest.get(id) === versions[document]
  }
  const take = (segment: KnownIds, document: number): boolean =>
    has(segment, document) && newest.delete(segment.ids[document] ?? '')
  return { has, take, isRemoved: (id) => removed.has(id) }
}
