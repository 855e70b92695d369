/** So many of them run among few. */
const few = 16

interface Waiting {
  readonly places: number
  readonly begin: () => void
}

/** Effects that may end the process, in the order in which they come: a few at a time, or one with no other beside it. */
export class Suspects {
  #free = few
  readonly #waiting: Waiting[] = []

  /** Resolves with what `work` comes to; it begins once its turn comes. */
  async run<T>(how: 'among few' | 'alone', work: () => Promise<T>): Promise<T> {
    const places = how === 'alone' ? few : 1
    await new Promise<void>((begin) => {
      this.#waiting.push({ places, begin })
      this.#next()
    })
    try {
      return await work()
    } finally {
      this.#free += places
      this.#next()
    }
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined && first.places <= this.#free; first = this.#waiting[0]) {
      this.#waiting.shift()
      this.#free -= first.places
      first.begin()
    }
  }
}
