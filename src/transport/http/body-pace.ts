import { Ticker, type Ticking } from '#runtime/ticker.ts'

/** How slowly a body may come. */
export interface BodyPaceLimits {
  /** What any body may take, however short. */
  readonly graceMs: number
  /** What it has to come at afterwards, over all of that time. */
  readonly bytesPerS: number
  /** How often it is looked at: shorter than the ten seconds after which a server's library closes a silent connection. */
  readonly lookMs: number
}

/** As uWebSockets.js has it by itself, which cuts the connection without a word; a body of 8 MB may take nine minutes. */
const usual: BodyPaceLimits = { graceMs: 20_000, bytesPerS: 16 * 1024, lookMs: 2_000 }

/** Looks after the bodies that are waited for: one that comes too slowly keeps its room from others. */
export class BodyPace {
  readonly #limits: BodyPaceLimits
  readonly #ticker: Ticker

  constructor(limits: BodyPaceLimits = usual) {
    this.#limits = limits
    this.#ticker = new Ticker(limits.lookMs)
  }

  watch(body: Ticking): void {
    this.#ticker.add(body)
  }

  leave(body: Ticking): void {
    this.#ticker.delete(body)
  }

  /** Whether so few bytes in that time are too few. */
  isTooSlow(bytes: number, ms: number): boolean {
    const { graceMs, bytesPerS } = this.#limits
    return ms > graceMs && (bytes * 1000) / bytesPerS <= ms - graceMs
  }

  /** What an answer says of it. */
  get rule(): string {
    const { graceMs, bytesPerS } = this.#limits
    return `A body must arrive within ${graceMs / 1000} seconds plus one second per ${bytesPerS / 1024} KB.`
  }
}
