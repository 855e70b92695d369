import type { Clock } from '#runtime/index.ts'
import type { HeldUnits, HoldState, RateLimit, RateLimits } from '#storage/index.ts'
import type { TokenNeed } from '../call/admission.ts'

/** Part of the window after which a hold is renewed. A hold that is not renewed, after a crash, ends with its window. */
const renewedAfter = 2 / 3

/** More than any call uses. Sums with numbers far beyond it are not exact: they would lose what others used. */
const maxUnits = 1_000_000_000

/** Tokens held in one limit. */
interface Part {
  readonly key: string
  readonly limit: RateLimit
  held: HeldUnits
}

/**
 * The tokens that a call in progress may use, held in every limit to which it is subject. They are renewed while the
 * call lasts, and replaced by the used ones when it ends.
 */
export class TokenHold {
  readonly #limits: RateLimits
  readonly #clock: Clock
  readonly #max: number
  readonly #parts: Part[] = []
  #need: TokenNeed
  #cancelRenewal: (() => void) | null = null
  /** Changes of the limits are made one after another. */
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(limits: RateLimits, clock: Clock, need: TokenNeed) {
    this.#limits = limits
    this.#clock = clock
    this.#max = Math.max(0, Math.min(need.max, maxUnits))
    this.#need = { ...need, max: this.#max }
  }

  /** The tokens that the call may use, when they are fewer than its maximum; undefined otherwise. */
  get limitedTo(): number | undefined {
    const fewest = Math.min(...this.#parts.map(({ held }) => held.units))
    return fewest < this.#max ? fewest : undefined
  }

  /** Holds the tokens in one more limit. A limit that grants fewer applies to those that follow. */
  async add(key: string, limit: RateLimit): Promise<HoldState> {
    const state = await this.#limits.hold(key, limit, this.#need)
    const { held } = state
    if (held === null) return state
    this.#parts.push({ key, limit, held })
    if (held.units < this.#need.max) this.#need = { ...this.#need, max: held.units }
    this.#cancelRenewal ??= this.#renewLater(limit)
    return state
  }

  /** Ends the call. Only the first call has an effect. Resolves when every limit has counted it; never rejects. */
  settle(tokens: number): Promise<unknown> {
    if (this.#isOver) return this.#last
    this.#isOver = true
    this.#cancelRenewal?.()
    return this.#replace(() => tokens)
  }

  #renewLater(limit: RateLimit): () => void {
    return this.#clock.after(limit.windowMs * renewedAfter, () => {
      void this.#replace(({ held }) => held.units)
      this.#cancelRenewal = this.#renewLater(limit)
    })
  }

  #replace(unitsOf: (part: Part) => number): Promise<unknown> {
    const each = async (part: Part): Promise<void> => {
      part.held = await this.#limits.settle(part.key, part.limit, { held: part.held, units: unitsOf(part) })
    }
    // what cannot be counted makes the limit less strict for a minute
    this.#last = this.#last.then(() => Promise.allSettled(this.#parts.map(each)))
    return this.#last
  }
}
