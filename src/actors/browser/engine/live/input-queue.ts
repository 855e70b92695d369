import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { liveInput } from '#specs/resources/web/browse-limits.ts'
import { isDoneWithin } from '../done-within.ts'

/** One input of a person on a page. */
export type PageInput = BodyOf<'browser_jobs.input'>['events'][number]

/** Maximum number of batch ids that are remembered, so that a repeated batch is not performed again. */
const maxKnown = 1_000
/** Size of the rate limit's bucket, in seconds of input. */
const burstS = 2

/**
 * Queue of a person's inputs on a page: performed in order, one at a time, and not after it is closed. Waiting mouse
 * moves are replaced by later ones.
 */
export class InputQueue {
  readonly #act: (input: PageInput) => Promise<void>
  readonly #steadyMs: () => number
  readonly #known = new Set<string>()
  #waiting: PageInput[] = []
  #isActing = false
  #acting = Promise.resolve()
  #isClosed = false
  #allowed: number = liveInput.perSecond * burstS
  #allowedAt: number

  /** @param act never rejects. @param steadyMs a monotonic clock */
  constructor(act: (input: PageInput) => Promise<void>, steadyMs: () => number) {
    this.#act = act
    this.#steadyMs = steadyMs
    this.#allowedAt = steadyMs()
  }

  /** Number of waiting inputs. */
  get size(): number {
    return this.#waiting.length
  }

  /** Adds a batch. @param id of the batch; a repeated batch is ignored. @throws {ServiceError} `rate_limit_exceeded` */
  take(id: string, inputs: readonly PageInput[]): void {
    if (this.#isClosed || this.#known.has(id)) return
    this.#admit(inputs)
    this.#remember(id)
    for (const input of inputs) this.#push(input)
    if (!this.#isActing) this.#acting = this.#run()
  }

  /** Accepts no more inputs. Resolves when the accepted ones are done, or after `ms`, when the rest is dropped. */
  async close(ms: number): Promise<void> {
    this.#isClosed = true
    await isDoneWithin(ms, this.#acting)
    this.#waiting = []
  }

  #admit(inputs: readonly PageInput[]): void {
    const now = this.#steadyMs()
    const refilled = this.#allowed + ((now - this.#allowedAt) / 1000) * liveInput.perSecond
    this.#allowed = Math.min(refilled, liveInput.perSecond * burstS)
    this.#allowedAt = now
    const text = [...this.#waiting, ...inputs].reduce((sum, input) => sum + (input.text?.length ?? 0), 0)
    const isTooMuch = this.#waiting.length + inputs.length > liveInput.maxWaiting || text > liveInput.maxWaitingText
    if (isTooMuch || inputs.length > this.#allowed) throw new ServiceError('rate_limit_exceeded', { retryAfterS: 1 })
    this.#allowed -= inputs.length
  }

  #remember(id: string): void {
    this.#known.add(id)
    const [oldest] = this.#known
    if (this.#known.size > maxKnown && oldest !== undefined) this.#known.delete(oldest)
  }

  #push(input: PageInput): void {
    if (input.type === 'mouseMove' && this.#waiting.at(-1)?.type === 'mouseMove') this.#waiting.pop()
    this.#waiting.push(input)
  }

  async #run(): Promise<void> {
    this.#isActing = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) await this.#act(next)
    this.#isActing = false
  }
}
