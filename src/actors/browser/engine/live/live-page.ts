import type { Page } from 'playwright'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxViewers } from '#specs/resources/web/browse-limits.ts'
import { Hands } from './hands.ts'
import { InputQueue, type PageInput } from './input-queue.ts'
import { type PageFrame, PageFrames } from './page-frames.ts'

/** How long a reader waits for a frame in one call, in ms: less than a question between processes may take. */
const frameMs = 2_000

/** How long the job waits for what the person did last, in ms. */
const lastMs = 3_000

/** A page while it is a person's: they see it, and use it. */
export interface PersonsPage {
  /** The newest frame after number `after`; null when there is none within seconds. @throws {ServiceError} `rate_limit_exceeded` */
  frame(after: number): Promise<PageFrame | null>
  /** Does what a person did, later and in order; a batch whose id came before is not done again. @throws {ServiceError} `rate_limit_exceeded` */
  input(id: string, inputs: readonly PageInput[]): void
}

/** The page of a browser while it is a person's. */
export class LivePage implements PersonsPage {
  readonly #frames: PageFrames
  readonly #hands: Hands
  readonly #queue: InputQueue

  /** @param now ms since the epoch */
  constructor(page: Page, now: () => number) {
    this.#frames = new PageFrames(page, now)
    this.#hands = new Hands(page)
    this.#queue = new InputQueue(
      (input) => this.#hands.act(input),
      () => performance.now(),
    )
  }

  async frame(after: number): Promise<PageFrame | null> {
    if (this.#frames.waiting >= maxViewers) throw new ServiceError('rate_limit_exceeded', { retryAfterS: 5 })
    return this.#frames.next(after, frameMs)
  }

  input(id: string, inputs: readonly PageInput[]): void {
    this.#queue.take(id, inputs)
  }

  /** It is the job's again. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([this.#frames.close(), this.#queue.close(lastMs)])
    await this.#hands.letGo()
  }
}
