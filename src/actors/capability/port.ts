import type { House } from './house.ts'

/**
 * A service that one capability offers to others. The port is declared by the capability that needs the service: the
 * provider depends on the consumer, and never the two on each other.
 */
export class Port<T> {
  readonly #name: string
  readonly #given = new WeakMap<House, { readonly value: T }>()

  constructor(name: string) {
    this.#name = name
  }

  /** Offers `value` in the house; may be called once. @throws {Error} when a value was already offered. */
  give(house: House, value: T): void {
    if (this.#given.has(house)) throw new Error(`${this.#name} is given twice`)
    this.#given.set(house, { value })
  }

  /** Returns the offered value. @throws {Error} when the capability that offers it opens later, or does not exist. */
  of(house: House): T {
    const given = this.#given.get(house)
    if (given === undefined) throw new Error(`${this.#name} is not given: its capability has to open before`)
    return given.value
  }
}
