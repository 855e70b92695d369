import { grown, int32s } from './growing.ts'
import type { Passage } from './passage.ts'
import type { VectorRows } from './segments/document-segment.ts'
import { type QueryVector, VectorTable } from './vector-table.ts'

const none = -1
const bytesAPage = 150
interface Page {
  readonly number: number
  readonly name: string
  /** Number of its passages. */
  size: number
  /** Slot of the passage with the vector; -1 for none. */
  first: number
}

/**
 * Vectors of the leads of pages (`leadsOf`). Only the first passage of a page contains the page's heading, and the
 * others, such as the rows of a table, cannot be understood without it.
 */
export class PageLeads {
  readonly #vectors = new VectorTable()
  readonly #byName = new Map<string, Page>()
  readonly #all: (Page | null)[] = []
  readonly #free: number[] = []
  /** Number of the page of each slot, -1 for none. */
  #numbers = int32s(0)

  get bytes(): number {
    return this.#vectors.bytes + this.#byName.size * bytesAPage
  }

  /** Upper bound of page numbers, including unused ones. */
  get extent(): number {
    return this.#all.length
  }

  /** Number of the page of a slot whose lead has a vector; -1 for none. */
  pageOf = (slot: number): number => {
    const number = this.#numbers[slot] ?? none
    return this.#vectors.has(number) ? number : none
  }

  add(slot: number, { group, page, lead = null }: Passage): void {
    this.#numbers = grown(this.#numbers, slot + 1, int32s)
    this.#numbers[slot] = none
    if (group === null || page === undefined || page === null) return
    const name = `${page} ${group}`
    const found = this.#byName.get(name) ?? this.#create(name)
    found.size++
    this.#numbers[slot] = found.number
    if (lead === null) return
    found.first = slot
    this.#vectors.set(found.number, lead)
  }

  /** Adds the leads of a segment. @param kept 1 for each passage that has the vector of its page's lead. */
  attach(
    first: number,
    { leads, leadOf, kept }: { readonly leads: VectorRows; readonly leadOf: Int32Array; readonly kept: Uint8Array },
  ): void {
    const [before, after] = [this.#all.length, first + leadOf.length]
    const shown = new Uint8Array(leads.units.length)
    this.#numbers = grown(this.#numbers, after, int32s)
    this.#numbers.fill(none, first, after)
    for (let passage = 0; passage < leadOf.length; passage++) {
      const lead = leadOf[passage] ?? none
      if (lead === none || kept[passage] !== 1) continue
      shown[lead] = 1
      this.#numbers[first + passage] = before + lead
    }
    for (let lead = 0; lead < shown.length; lead++) this.#all.push(null)
    this.#vectors.attach(before, leads, shown)
  }

  remove(slot: number): void {
    const page = this.#all[this.#numbers[slot] ?? none]
    this.#numbers[slot] = none
    if (page === undefined || page === null) return
    if (page.first === slot) {
      this.#vectors.delete(page.number)
      page.first = none
    }
    page.size--
    if (page.size > 0) return
    this.#byName.delete(page.name)
    this.#all[page.number] = null
    this.#free.push(page.number)
  }

  /** Prepares a query's vector for `cosines`; null when no page has a comparable vector. */
  query(vector: Float32Array | null): QueryVector | null {
    return this.#vectors.query(vector)
  }

  /** Writes the cosine of each page into `cosines`, by page number. */
  cosines(query: QueryVector, cosines: Float32Array): void {
    this.#vectors.cosines(query, cosines, { from: 0, to: cosines.length })
  }

  #create(name: string): Page {
    const number = this.#free.pop() ?? this.#all.push(null) - 1
    const page: Page = { number, name, size: 0, first: none }
    this.#all[number] = page
    this.#byName.set(name, page)
    return page
  }
}
