import type { House } from './house.ts'

/**
 * What one capability offers to others, by a name that both know. The port stands with the one that needs it, so that
 * the one who gives may know the one who needs, and never both each other.
 */
export class Port<T> {
  readonly #name: string
  readonly #given = new WeakMap<House, { readonly value: T }>()

  constructor(name: string) {
    this.#name = name
  }

  /** Offers `value` to the house; once. @throws {Error} when something is offered already. */
  give(house: House, value: T): void {
    if (this.#given.has(house)) throw new Error(`${this.#name} is given twice`)
    this.#given.set(house, { value })
  }

  /** What was given. @throws {Error} when the capability that gives it opens later, or is not there. */
  of(house: House): T {
    const given = this.#given.get(house)
    if (given === undefined) throw new Error(`${this.#name} is not given: its capability has to open before`)
    return given.value
  }
}
