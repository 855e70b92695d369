import { Ticker, type Ticking } from '#runtime/internal.ts'

/** Minimum rate of a body. */
export interface BodyRate {
  /** Time in ms that any body may take, however short. */
  readonly graceMs: number
  /** Minimum rate after the grace period, averaged over the time since. */
  readonly bytesPerS: number
}

/** Minimum rates of bodies. */
export interface BodyPaceLimits extends BodyRate {
  /** The rate of those that must hurry; absent: the same. */
  readonly hurried?: BodyRate
  /** Check interval in ms: shorter than the ten seconds after which a server's library closes a silent connection. */
  readonly pollMs: number
}

/**
 * The rate that uWebSockets.js enforces itself, by cutting the connection without an answer. A body of 8 MB may take
 * nine minutes, and one of a browser, whose operator is unknown, a little more than four.
 */
const usual: BodyPaceLimits = {
  graceMs: 20_000,
  bytesPerS: 16 * 1024,
  hurried: { graceMs: 5_000, bytesPerS: 32 * 1024 },
  pollMs: 2_000,
}

/** Monitors bodies that are being read: a slow one keeps its reserved memory from others. */
export class BodyPace {
  readonly #limits: BodyPaceLimits
  readonly #ticker: Ticker

  constructor(limits: BodyPaceLimits = usual) {
    this.#limits = limits
    this.#ticker = new Ticker(limits.pollMs)
  }

  watch(body: Ticking): void {
    this.#ticker.add(body)
  }

  leave(body: Ticking): void {
    this.#ticker.delete(body)
  }

  /** Returns whether this many bytes in this time are too few. */
  isTooSlow(bytes: number, ms: number, isHurried = false): boolean {
    const { graceMs, bytesPerS } = this.#rate(isHurried)
    return ms > graceMs && (bytes * 1000) / bytesPerS <= ms - graceMs
  }

  /** The rule as a sentence for error messages. */
  rule(isHurried: boolean): string {
    const { graceMs, bytesPerS } = this.#rate(isHurried)
    return `A body must arrive within ${graceMs / 1000} seconds plus one second per ${bytesPerS / 1024} KB.`
  }

  #rate(isHurried: boolean): BodyRate {
    return isHurried ? (this.#limits.hurried ?? this.#limits) : this.#limits
  }
}
