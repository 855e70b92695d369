/** How much the newest time counts. */
const newest = 0.3

/** A time that old says nothing any more: the model gets another chance. */
const forgottenAfterMs = 15 * 60_000

const maxEntries = 10_000

/** Times until the first byte, by project and model, as moving averages. Of this process: a hint, and nothing rests on it. */
export class Latencies {
  readonly #times = new Map<string, { readonly ms: number; readonly at: number }>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** @param model `provider/model` */
  note(project: string, model: string, ms: number): void {
    const key = `${project} ${model}`
    const known = this.#known(key)
    this.#times.delete(key)
    this.#times.set(key, { ms: known === null ? ms : known * (1 - newest) + ms * newest, at: this.#now() })
    if (this.#times.size <= maxEntries) return
    const [oldest] = this.#times.keys()
    if (oldest !== undefined) this.#times.delete(oldest)
  }

  /** Milliseconds; null when nothing was measured lately. */
  of(project: string, model: string): number | null {
    return this.#known(`${project} ${model}`)
  }

  #known(key: string): number | null {
    const entry = this.#times.get(key)
    return entry === undefined || this.#now() - entry.at > forgottenAfterMs ? null : entry.ms
  }
}
