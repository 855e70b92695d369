import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { liveInput } from '#specs/resources/web/browse-limits.ts'
import { isDoneWithin } from '../done-within.ts'

/** One thing that a person does with a page. */
export type PageInput = BodyOf<'browser_jobs.input'>['events'][number]

/** Ids of batches that are known: one that comes again is not done again. */
const mostKnown = 1_000
/** A second's worth may come at once, and a little more. */
const burstS = 2

/**
 * What a person does with a page, in order, one at a time, and nothing once it is closed. Moves of the mouse that wait give way to
 * later ones.
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

  /** @param act never rejects. @param steadyMs a clock that only goes on */
  constructor(act: (input: PageInput) => Promise<void>, steadyMs: () => number) {
    this.#act = act
    this.#steadyMs = steadyMs
    this.#allowedAt = steadyMs()
  }

  /** Things that wait. */
  get size(): number {
    return this.#waiting.length
  }

  /** @param id of the batch: the same again is not done again. @throws {ServiceError} `rate_limit_exceeded` */
  take(id: string, inputs: readonly PageInput[]): void {
    if (this.#isClosed || this.#known.has(id)) return
    this.#admit(inputs)
    this.#remember(id)
    for (const input of inputs) this.#push(input)
    if (!this.#isActing) this.#acting = this.#run()
  }

  /** Takes no more. Resolves when what was taken is done, or after so many ms: the rest is dropped. */
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
    const isTooMuch = this.#waiting.length + inputs.length > liveInput.mostWaiting || text > liveInput.mostText
    if (isTooMuch || inputs.length > this.#allowed) throw new ServiceError('rate_limit_exceeded', { retryAfterS: 1 })
    this.#allowed -= inputs.length
  }

  #remember(id: string): void {
    this.#known.add(id)
    const [oldest] = this.#known
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest)
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
