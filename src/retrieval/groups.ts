import { float64s, grown, int32s } from './growing.ts'
import type { Passage } from './passage.ts'
import { Titles } from './titles.ts'

const none = -1

interface Group {
  readonly number: number
  readonly name: string
  readonly members: Set<number>
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
  #groupOf = int32s(0)
  #orders = float64s(0)
  #before = int32s(0)
  #after = int32s(0)

  /** Upper bound of group numbers, including unused ones. */
  get extent(): number {
    return this.#all.length
  }

  get size(): number {
    return this.#byName.size
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
  sizeOf = (number: number): number => this.#all[number]?.members.size ?? 0
  /** Returns the slot of the previous passage; -1 for none. Call `sort` first. */
  before = (slot: number): number => this.#before[slot] ?? none
  after = (slot: number): number => this.#after[slot] ?? none

  add(slot: number, { group: name, order }: Passage, length: number): void {
    this.#groupOf = grown(this.#groupOf, slot + 1, int32s)
    this.#orders = grown(this.#orders, slot + 1, float64s)
    this.#before = grown(this.#before, slot + 1, int32s)
    this.#after = grown(this.#after, slot + 1, int32s)
    this.#before[slot] = none
    this.#after[slot] = none
    this.#orders[slot] = order
    const group = name === null ? null : (this.#byName.get(name) ?? this.#create(name))
    this.#groupOf[slot] = group?.number ?? none
    if (group === null) return
    group.members.add(slot)
    group.length += length
    this.#unsorted.add(group)
  }

  remove(slot: number, length: number): void {
    const group = this.#all[this.numberOf(slot)]
    this.#groupOf[slot] = none
    if (group === undefined || group === null) return
    group.members.delete(slot)
    group.length -= length
    this.#unsorted.add(group)
    if (group.members.size === 0) this.#delete(group)
  }

  /** Sets the title of a group. A group without members is ignored. */
  name(group: string, title: string): void {
    const found = this.#byName.get(group)
    if (found !== undefined) this.titles.set(found.number, title)
  }

  /** Sorts the members of changed groups. */
  sort(): void {
    for (const { members } of this.#unsorted) {
      const slots = [...members].sort((a, b) => (this.#orders[a] ?? 0) - (this.#orders[b] ?? 0) || a - b)
      for (const [at, slot] of slots.entries()) {
        this.#before[slot] = slots[at - 1] ?? none
        this.#after[slot] = slots[at + 1] ?? none
      }
    }
    this.#unsorted.clear()
  }

  #create(name: string): Group {
    const number = this.#free.pop() ?? this.#all.push(null) - 1
    const group: Group = { number, name, members: new Set(), length: 0 }
    this.#all[number] = group
    this.#byName.set(name, group)
    return group
  }

  #delete(group: Group): void {
    this.#byName.delete(group.name)
    this.#all[group.number] = null
    this.titles.delete(group.number)
    this.#free.push(group.number)
    this.#unsorted.delete(group)
  }
}
