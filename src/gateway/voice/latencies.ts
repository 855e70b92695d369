import type { FanOut } from '#storage/cluster-ports.ts'
import type { JsonObject } from '#storage/ports.ts'

/** How much the newest time counts. */
const newest = 0.3

/** A time that old says nothing any more: the model gets another chance. */
const forgottenAfterMs = 15 * 60_000

const maxEntries = 10_000

/** The topic of hints between nodes. */
const topic = 'voice-latency'

/**
 * Times until the first byte, by project and model, as moving averages. Nodes send each other what they measured, so that
 * all go by about the same; one that hears nothing goes by its own times. Nothing rests on it.
 */
export class Latencies {
  readonly #times = new Map<string, { readonly ms: number; readonly at: number }>()
  readonly #now: () => number
  readonly #fanOut: Pick<FanOut, 'announce'> | undefined
  /** Marks what this node sent, when it comes back. */
  readonly #self = crypto.randomUUID()

  /** @param fanOut none for one process. */
  constructor(now: () => number, fanOut?: Pick<FanOut, 'announce' | 'subscribe'> | undefined) {
    this.#now = now
    this.#fanOut = fanOut
    fanOut?.subscribe(topic, (data) => this.#heard(data))
  }

  /** @param model `provider/model` */
  note(project: string, model: string, ms: number): void {
    this.#keep(project, model, ms)
    this.#fanOut?.announce(topic, { from: this.#self, project, model, ms })
  }

  /** Milliseconds; null when nothing was measured lately. */
  of(project: string, model: string): number | null {
    return this.#known(`${project} ${model}`)
  }

  #heard({ from, project, model, ms }: JsonObject): void {
    if (from === this.#self || typeof project !== 'string' || typeof model !== 'string') return
    if (typeof ms === 'number' && ms >= 0) this.#keep(project, model, ms)
  }

  #keep(project: string, model: string, ms: number): void {
    const key = `${project} ${model}`
    const known = this.#known(key)
    this.#times.delete(key)
    this.#times.set(key, { ms: known === null ? ms : known * (1 - newest) + ms * newest, at: this.#now() })
    if (this.#times.size <= maxEntries) return
    const [oldest] = this.#times.keys()
    if (oldest !== undefined) this.#times.delete(oldest)
  }

  #known(key: string): number | null {
    const entry = this.#times.get(key)
    return entry === undefined || this.#now() - entry.at > forgottenAfterMs ? null : entry.ms
  }
}
