import type { PassageIndex } from '../passage-index.ts'
import type { AttachedSegment } from './attached-segment.ts'
import type { DocumentSegment } from './document-segment.ts'

/** A document of an index, and the segment that has it. */
export class IndexedDocument<S extends DocumentSegment, D> {
  readonly id: string
  readonly segment: S
  /** Its number in the segment. */
  readonly at: number
  /** Slot of its first passage. */
  readonly first: number
  /** Whether the index has no longer this version of it. */
  isRemoved = false
  readonly #read: (segment: S, at: number) => D
  #details: D | null = null

  constructor(segment: S, { at, first, read }: { at: number; first: number; read: (segment: S, at: number) => D }) {
    this.segment = segment
    this.at = at
    this.id = segment.ids[at] ?? ''
    this.first = first + (segment.starts[at] ?? 0)
    this.#read = read
  }

  get version(): number {
    return this.segment.versions[this.at] ?? 0
  }

  /** Number of its passages. */
  get size(): number {
    return (this.segment.starts[this.at + 1] ?? 0) - (this.segment.starts[this.at] ?? 0)
  }

  /** What is known of it besides its words; read when a search first needs it. */
  get details(): D {
    this.#details ??= this.#read(this.segment, this.at)
    return this.#details
  }
}

/** How an index reads its segments. */
export interface SegmentReading<S extends DocumentSegment, D>
  extends Partial<Pick<AttachedSegment, 'titleOf' | 'vectorsOf'>> {
  readonly details: (segment: S, at: number) => D
}

const bytesEach = 300

/** The newest versions of the documents of some segments, in whatever order these are read. */
export class SegmentedIndex<S extends DocumentSegment, D> {
  readonly passages: PassageIndex
  readonly #documents = new Map<string, IndexedDocument<S, D>>()
  readonly #removed = new Set<string>()
  /** Number of passages of all segments, with those that were removed or replaced. */
  extent = 0
  /** Number of the segments. */
  segments = 0

  constructor(passages: PassageIndex) {
    this.passages = passages
  }

  get size(): number {
    return this.#documents.size
  }

  /** Estimated memory in bytes. */
  get bytes(): number {
    return this.passages.bytes + this.#documents.size * bytesEach
  }

  get documents(): Iterable<IndexedDocument<S, D>> {
    return this.#documents.values()
  }

  document(id: string): IndexedDocument<S, D> | undefined {
    return this.#documents.get(id)
  }

  /** Returns the version of a document; -1 when the index does not have it. */
  versionOf(id: string): number {
    return this.#documents.get(id)?.version ?? -1
  }

  /**
   * Adds the documents of a segment that are newer than those here, and removes those that it removes.
   *
   * @returns each of its documents; null for one that is older or removed.
   */
  load(segment: S, reading: SegmentReading<S, D>): readonly (IndexedDocument<S, D> | null)[] {
    const { details, titleOf = null, vectorsOf = () => 'here' } = reading
    for (const [id] of segment.removals) this.forget(id)
    const seen = new Map<string, number>()
    const isNewest = (id: string, at: number) =>
      (segment.versions[at] ?? 0) > this.versionOf(id) && !this.#removed.has(id)
    for (const [at, id] of segment.ids.entries()) if (isNewest(id, at)) seen.set(id, at)
    for (const id of seen.keys()) this.remove(id)
    const isKept = (at: number): boolean => seen.get(segment.ids[at] ?? '') === at
    const first = this.passages.attach({ segment, isKept, titleOf, vectorsOf })
    this.segments++
    this.extent += segment.lengths.length
    return segment.ids.map((id, at) => {
      if (!isKept(at)) return null
      const document = new IndexedDocument(segment, { at, first, read: details })
      this.#documents.set(id, document)
      return document
    })
  }

  remove(id: string): void {
    const document = this.#documents.get(id)
    if (document === undefined) return
    document.isRemoved = true
    this.#documents.delete(id)
    const { first, size } = document
    for (let slot = first; slot < first + size; slot++) this.passages.removeSlot(slot)
  }

  /** Removes a document for good: a segment that still has it does not bring it back. */
  forget(id: string): void {
    this.remove(id)
    this.#removed.add(id)
  }
}
