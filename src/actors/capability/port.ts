import type { Services } from './services.ts'

/**
 * A service that one capability offers to others. The port is declared by the capability that needs the service: the
 * provider depends on the consumer, and never the two on each other.
 */
export class Port<T> {
  readonly #name: string
  readonly #given = new WeakMap<Services, { readonly value: T }>()

  constructor(name: string) {
    this.#name = name
  }

  /** Offers `value` beside the services; may be called once. @throws {Error} when a value was already offered. */
  give(services: Services, value: T): void {
    if (this.#given.has(services)) throw new Error(`${this.#name} is given twice`)
    this.#given.set(services, { value })
  }

  /** Returns the offered value. @throws {Error} when the capability that offers it opens later, or does not exist. */
  of(services: Services): T {
    const given = this.#given.get(services)
    if (given === undefined) throw new Error(`${this.#name} is not given: its capability has to open before`)
    return given.value
  }
}
