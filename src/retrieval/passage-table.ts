import { amends } from './analysis/amendments.ts'
import { type Analysis, analysisOf, english } from './analysis/analysis.ts'
import { conditionOf, isReply, type StatementKind, statementKindOf } from './analysis/statement-kind.ts'
import { Groups } from './groups.ts'
import { float64s, grown, int32s } from './growing.ts'
import type { Passage } from './passage.ts'
import type { PostingRange } from './postings.ts'
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
  /** Slots of the passages that are looked up by their id. */
  readonly #slots = new Map<string, number>()
  #size = 0
  readonly #free: number[] = []
  readonly #ids: (string | null)[] = []
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
    return this.#slots.get(id) ?? none
  }

  /** Returns the id of the passage in a slot; null for a free slot. */
  idOf(slot: number): string | null {
    return this.#ids[slot] ?? null
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
  add(passage: Passage, analysis: Pick<Analysis, 'length' | 'isMarked'>): number {
    const slot = this.addUnnamed(passage, analysis)
    this.#slots.set(passage.id, slot)
    return slot
  }

  /** Adds a passage that is not looked up by its id: a map of a hundred thousand texts takes longer than all the rest. */
  addUnnamed(passage: Passage, { length, isMarked }: Pick<Analysis, 'length' | 'isMarked'>): number {
    const slot = this.#free.pop() ?? this.#ids.push(null) - 1
    this.#size++
    this.#reserve(slot + 1)
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

  #mark(slot: number, text: string): void {
    if (amends(text)) this.#amending.add(slot)
    const kind = statementKindOf(text)
    if (kind !== null) this.#kinds.set(slot, kind)
    if (kind === 'instruction') this.#conditions.set(slot, termsOf(conditionOf(text)))
  }

  remove(slot: number): void {
    const id = this.idOf(slot)
    if (id === null) return
    this.#size--
    this.#slots.delete(id)
    this.#amending.delete(slot)
    this.#kinds.delete(slot)
    this.#conditions.delete(slot)
    this.#ids[slot] = null
    this.#totalLength -= this.lengthOf(slot)
    this.#groups.remove(slot, this.lengthOf(slot))
    this.#speakers.remove(this.speakerOf(slot))
    this.#free.push(slot)
  }

  setRange(slot: number, { first, count }: PostingRange): void {
    this.#firsts[slot] = first
    this.#counts[slot] = count
  }

  *ranges(): Generator<readonly [number, PostingRange]> {
    for (const [slot, id] of this.#ids.entries()) if (id !== null) yield [slot, this.rangeOf(slot)]
  }

  #reserve(length: number): void {
    this.#stamps = grown(this.#stamps, length, int32s)
    this.#lengths = grown(this.#lengths, length, int32s)
    this.#firsts = grown(this.#firsts, length, int32s)
    this.#counts = grown(this.#counts, length, int32s)
    this.#speakerOf = grown(this.#speakerOf, length, int32s)
    this.#pages = grown(this.#pages, length, int32s)
    this.#at = grown(this.#at, length, float64s)
  }
}
