import { amends } from './analysis/amendments.ts'
import { type Analysis, analysisOf, english } from './analysis/analysis.ts'
import { conditionOf, isReply, type StatementKind, statementKindOf } from './analysis/statement-kind.ts'
import { Groups } from './groups.ts'
import { float64s, grown, int32s, uint8s } from './growing.ts'
import type { Passage } from './passage.ts'
import { type PostingRange, rangeIn } from './postings.ts'
import type { AttachedSegment } from './segments/attached-segment.ts'
import type { DocumentSegment } from './segments/document-segment.ts'
import { Speakers } from './speakers.ts'

const none = -1
const bytesEach = 200
const noTerms: ReadonlySet<string> = new Set()

const termsOf = (text: string): ReadonlySet<string> =>
  new Set(text === '' ? [] : analysisOf(text, english).counts.keys())

/**
 * Metadata of the passages of an index, by slot; terms and vectors are stored elsewhere. Slots of removed passages are
 * reused. `stampOf` distinguishes the old from the new passage of a slot for a search in progress.
 */
export class PassageTable {
  readonly #slots = new Map<string, number>()
  /** Slots of the passages of segments; made when one is first looked up by its id: that takes longer than all the rest. */
  #stored: Map<string, number> | null = null
  /** Segments, in the order of their slots. */
  readonly #segments: { readonly first: number; readonly segment: DocumentSegment }[] = []
  #size = 0
  readonly #free: number[] = []
  /** Ids of the passages that are not of a segment. */
  readonly #ids: (string | null)[] = []
  /** 1 for each slot that has a passage. */
  #live = uint8s(0)
  readonly #groups = new Groups()
  readonly #speakers = new Speakers()
  #stamps = int32s(0)
  #lengths = int32s(0)
  #firsts = int32s(0)
  #counts = int32s(0)
  #speakerOf = int32s(0)
  #pages = int32s(0)
  #at = float64s(0)
  readonly #amending = new Set<number>()
  readonly #kinds = new Map<number, StatementKind>()
  readonly #conditions = new Map<number, ReadonlySet<string>>()
  #stamp = 0
  #totalLength = 0

  get size(): number {
    return this.#size
  }

  get bytes(): number {
    return this.#size * bytesEach
  }

  /** Number of slots, including free ones. */
  get extent(): number {
    return this.#ids.length
  }

  /** Incremented with each added passage. */
  get stamp(): number {
    return this.#stamp
  }

  get averageLength(): number {
    return this.#totalLength / Math.max(1, this.size)
  }

  get groups(): Groups {
    return this.#groups
  }

  /** When each passage was said, by slot, in ms. */
  get times(): Float64Array {
    return this.#at
  }

  /** Words of each passage, by slot; valid until the next change. */
  get lengths(): Int32Array {
    return this.#lengths
  }

  /** Passages that are an instruction, a preference or a reply instead of a plain statement, by slot. */
  get kinds(): ReadonlyMap<number, StatementKind> {
    return this.#kinds
  }

  get speakers(): Speakers {
    return this.#speakers
  }

  slotOf(id: string): number {
    return this.#slots.get(id) ?? (this.#segments.length === 0 ? none : this.#slotOfStored(id))
  }

  #slotOfStored(id: string): number {
    if (this.#stored === null) {
      this.#stored = new Map()
      for (const { first, segment } of this.#segments)
        for (let slot = first; slot < first + segment.lengths.length; slot++)
          if (this.isLive(slot)) this.#stored.set(segment.passageId(slot - first), slot)
    }
    const slot = this.#stored.get(id) ?? none
    return this.isLive(slot) ? slot : none
  }

  isLive(slot: number): boolean {
    return this.#live[slot] === 1
  }

  /** Returns the id of the passage in a slot; null for a free slot. */
  idOf(slot: number): string | null {
    if (!this.isLive(slot)) return null
    const own = this.#ids[slot] ?? null
    if (own !== null) return own
    const found = this.#segments.findLast(({ first }) => first <= slot)
    return found?.segment.passageId(slot - found.first) ?? null
  }

  lengthOf = (slot: number): number => this.#lengths[slot] ?? 0
  atOf = (slot: number): number => this.#at[slot] ?? 0
  speakerOf = (slot: number): number => this.#speakerOf[slot] ?? none
  /** Returns the page of the group on which the passage is; -1 for none. */
  pageOf = (slot: number): number => this.#pages[slot] ?? none
  /** Whether the passage states that something has changed. */
  amends = (slot: number): boolean => this.#amending.has(slot)
  /** Returns terms of the requests to which an instruction applies; empty for other passages. */
  conditionOf = (slot: number): ReadonlySet<string> => this.#conditions.get(slot) ?? noTerms
  stampOf = (slot: number): number => this.#stamps[slot] ?? 0
  rangeOf = (slot: number): PostingRange => ({ first: this.#firsts[slot] ?? 0, count: this.#counts[slot] ?? 0 })

  /** Adds a passage, which must not be in the table, and returns its slot. */
  add(passage: Passage, { length, isMarked }: Pick<Analysis, 'length' | 'isMarked'>): number {
    const slot = this.#free.pop() ?? this.#ids.push(null) - 1
    this.#slots.set(passage.id, slot)
    this.#size++
    this.#reserve(slot + 1)
    this.#live[slot] = 1
    this.#ids[slot] = passage.id
    this.#stamps[slot] = ++this.#stamp
    this.#lengths[slot] = length
    this.#totalLength += length
    this.#at[slot] = passage.at
    this.#speakerOf[slot] = this.#speakers.add(passage.speaker ?? null)
    this.#pages[slot] = passage.page ?? none
    this.#groups.add(slot, passage, length)
    if (isMarked) this.#mark(slot, passage.text)
    else if (isReply(passage.text)) this.#kinds.set(slot, 'reply')
    return slot
  }

  /** Adds the passages of a segment in new slots. @param kept 1 for each that is not left out. */
  attach({ segment, isKept, titleOf }: AttachedSegment, block: number, kept: Uint8Array): void {
    const [first, count] = [this.extent, kept.length]
    this.#stored = null
    this.#segments.push({ first, segment })
    this.#ids.length = first + count
    this.#reserve(first + count)
    this.#live.set(kept, first)
    this.#lengths.set(segment.lengths, first)
    this.#stamps.fill(++this.#stamp, first, first + count)
    this.#speakerOf.fill(none, first, first + count)
    if (segment.pages.length > 0) this.#pages.set(segment.pages, first)
    else this.#pages.fill(none, first, first + count)
    this.#at.fill(0, first, first + count)
    for (let passage = 0; passage < count; passage++) {
      this.setRange(first + passage, rangeIn(block, passage))
      if (kept[passage] === 0) continue
      this.#size++
      this.#totalLength += segment.lengths[passage] ?? 0
    }
    this.#groups.attach(first, { segment, isKept, titleOf })
  }

  /** Clears the flags of the passages of documents that are not accepted. Returns how many it cleared. */
  forbid(allowed: Uint8Array, accepts: (document: string) => boolean): number {
    let count = 0
    for (const { first, segment } of this.#segments) {
      for (const [document, id] of segment.ids.entries()) {
        const [from, to] = [first + (segment.starts[document] ?? 0), first + (segment.starts[document + 1] ?? 0)]
        if (allowed[from] !== 1 || from === to || accepts(id)) continue
        allowed.fill(0, from, to)
        count += to - from
      }
    }
    return count
  }

  #mark(slot: number, text: string): void {
    if (amends(text)) this.#amending.add(slot)
    const kind = statementKindOf(text)
    if (kind !== null) this.#kinds.set(slot, kind)
    if (kind === 'instruction') this.#conditions.set(slot, termsOf(conditionOf(text)))
  }

  remove(slot: number): void {
    if (!this.isLive(slot)) return
    const id = this.#ids[slot] ?? null
    this.#live[slot] = 0
    this.#size--
    this.#amending.delete(slot)
    this.#kinds.delete(slot)
    this.#conditions.delete(slot)
    this.#totalLength -= this.lengthOf(slot)
    this.#groups.remove(slot, this.lengthOf(slot))
    this.#speakers.remove(this.speakerOf(slot))
    // slots of a segment are not reused
    if (id === null) return
    this.#slots.delete(id)
    this.#ids[slot] = null
    this.#free.push(slot)
  }

  setRange(slot: number, { first, count }: PostingRange): void {
    this.#firsts[slot] = first
    this.#counts[slot] = count
  }

  *ranges(): Generator<readonly [number, PostingRange]> {
    for (let slot = 0; slot < this.extent; slot++) if (this.isLive(slot)) yield [slot, this.rangeOf(slot)]
  }

  #reserve(length: number): void {
    this.#live = grown(this.#live, length, uint8s)
    this.#stamps = grown(this.#stamps, length, int32s)
    this.#lengths = grown(this.#lengths, length, int32s)
    this.#firsts = grown(this.#firsts, length, int32s)
    this.#counts = grown(this.#counts, length, int32s)
    this.#speakerOf = grown(this.#speakerOf, length, int32s)
    this.#pages = grown(this.#pages, length, int32s)
    this.#at = grown(this.#at, length, float64s)
  }
}
