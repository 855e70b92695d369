import { float64s, grown, int32s } from './growing.ts'
import type { Passage } from './passage.ts'
import type { AttachedSegment } from './segments/attached-segment.ts'
import { Titles } from './titles.ts'

const none = -1

interface Group {
  readonly number: number
  readonly name: string
  /** null for a document of a segment, which is added and removed as a whole. */
  readonly members: Set<number> | null
  size: number
  /** Total words of its members. */
  length: number
}

/** Ordered groups of passages. A passage without a group has no neighbours. */
export class Groups {
  readonly #byName = new Map<string, Group>()
  readonly #all: (Group | null)[] = []
  readonly #free: number[] = []
  readonly #unsorted = new Set<Group>()
  readonly titles = new Titles()
  #size = 0
  #groupOf = int32s(0)
  #orders = float64s(0)
  #before = int32s(0)
  #after = int32s(0)

  /** Upper bound of group numbers, including unused ones. */
  get extent(): number {
    return this.#all.length
  }

  get size(): number {
    return this.#size
  }

  /** Group number of each slot, -1 for none; valid until the next change. */
  get numbers(): Int32Array {
    return this.#groupOf
  }

  /** Slots of the previous and next passage of each slot, as in `before` and `after`; valid until the next change. */
  get besides(): readonly [before: Int32Array, after: Int32Array] {
    return [this.#before, this.#after]
  }

  numberOf = (slot: number): number => this.#groupOf[slot] ?? none
  lengthOf = (number: number): number => this.#all[number]?.length ?? 0
  sizeOf = (number: number): number => this.#all[number]?.size ?? 0
  /** Returns the slot of the previous passage; -1 for none. Call `sort` first. */
  before = (slot: number): number => this.#before[slot] ?? none
  after = (slot: number): number => this.#after[slot] ?? none

  add(slot: number, { group: name, order }: Passage, length: number): void {
    this.#reserve(slot + 1)
    this.#orders = grown(this.#orders, slot + 1, float64s)
    this.#before[slot] = none
    this.#after[slot] = none
    this.#orders[slot] = order
    const group = name === null ? null : (this.#byName.get(name) ?? this.#create(name))
    this.#groupOf[slot] = group?.number ?? none
    if (group === null) return
    group.members?.add(slot)
    group.size++
    group.length += length
    this.#unsorted.add(group)
  }

  remove(slot: number, length: number): void {
    const group = this.#all[this.numberOf(slot)]
    this.#groupOf[slot] = none
    if (group === undefined || group === null) return
    group.members?.delete(slot)
    group.size--
    group.length -= length
    if (group.members !== null) this.#unsorted.add(group)
    if (group.size === 0) this.#delete(group)
  }

  /** Adds the documents of a segment as groups of passages that follow one another. */
  attach(
    first: number,
    { segment: { ids, starts, lengths, titles }, isKept, titleOf }: Omit<AttachedSegment, 'vectorsOf'>,
  ): void {
    const extent = first + lengths.length
    this.#reserve(extent)
    this.#groupOf.fill(none, first, extent)
    this.#before.fill(none, first, extent)
    this.#after.fill(none, first, extent)
    const numbers = new Int32Array(ids.length).fill(none)
    for (let document = 0; document < ids.length; document++) {
      const [from, to] = [first + (starts[document] ?? 0), first + (starts[document + 1] ?? 0)]
      if (from === to || !isKept(document)) continue
      const group = this.#add('', null)
      numbers[document] = group.number
      group.size = to - from
      this.#groupOf.fill(group.number, from, to)
      for (let slot = from; slot < to; slot++) {
        group.length += lengths[slot - first] ?? 0
        if (slot > from) this.#before[slot] = slot - 1
        if (slot + 1 < to) this.#after[slot] = slot + 1
      }
    }
    if (titleOf !== null) this.titles.attach({ titles, numbers, titleOf })
  }

  /** Sets the title of a group. A group without members is ignored. */
  name(group: string, title: string): void {
    const found = this.#byName.get(group)
    if (found !== undefined) this.titles.set(found.number, title)
  }

  /** Sorts the members of changed groups. */
  sort(): void {
    for (const { members } of this.#unsorted) {
      const slots = [...(members ?? [])].sort((a, b) => (this.#orders[a] ?? 0) - (this.#orders[b] ?? 0) || a - b)
      for (const [at, slot] of slots.entries()) {
        this.#before[slot] = slots[at - 1] ?? none
        this.#after[slot] = slots[at + 1] ?? none
      }
    }
    this.#unsorted.clear()
  }

  #create(name: string): Group {
    const group = this.#add(name, new Set())
    this.#byName.set(name, group)
    return group
  }

  #add(name: string, members: Set<number> | null): Group {
    const number = this.#free.pop() ?? this.#all.push(null) - 1
    const group: Group = { number, name, members, size: 0, length: 0 }
    this.#all[number] = group
    this.#size++
    return group
  }

  #reserve(length: number): void {
    this.#groupOf = grown(this.#groupOf, length, int32s)
    this.#before = grown(this.#before, length, int32s)
    this.#after = grown(this.#after, length, int32s)
  }

  #delete(group: Group): void {
    this.#size--
    if (group.members !== null) this.#byName.delete(group.name)
    this.#all[group.number] = null
    this.titles.delete(group.number)
    this.#free.push(group.number)
    this.#unsorted.delete(group)
  }
}
