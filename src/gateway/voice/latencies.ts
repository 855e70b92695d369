import type { FanOut, JsonObject } from '#storage/index.ts'

/** Weight of the newest measurement in the moving average. */
const newest = 0.3

/** A measurement of this age is discarded, so that a slow model gets another chance. */
const forgottenAfterMs = 15 * 60_000

const maxEntries = 10_000

/** Topic under which nodes share measurements. */
const topic = 'voice-latency'

/**
 * Moving averages of the time to first byte, by project and model. Nodes share their measurements so that all have
 * similar averages; a node that receives none uses its own. The averages are hints: correctness does not depend on
 * them.
 */
export class Latencies {
  readonly #times = new Map<string, { readonly ms: number; readonly at: number }>()
  readonly #now: () => number
  readonly #fanOut: Pick<FanOut, 'announce'> | undefined
  /** Id of this node, to ignore its own messages. */
  readonly #self = crypto.randomUUID()

  /** @param fanOut absent in a single-process deployment. */
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

  /** Returns the average in ms; null when there is no recent measurement. */
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
