/** Number of suspects that may run `among few`. */
const few = 16

interface Waiting {
  readonly places: number
  readonly begin: () => void
}

/** Queue of effects that may crash the process: in order of arrival, a few at a time, or one alone. */
export class Suspects {
  #free = few
  readonly #waiting: Waiting[] = []

  /** Runs `work` when its turn comes, and resolves or rejects with its result. */
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
