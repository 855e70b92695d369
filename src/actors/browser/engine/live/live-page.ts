import type { Page } from 'playwright'
import { InputQueue, type PageInput } from './input-queue.ts'
import { type PageFrame, PageFrames } from './page-frames.ts'
import { PersonInput } from './person-input.ts'
import { Viewers } from './viewers.ts'

/** Maximum time in ms for which one request waits for a frame: less than the timeout of a request between processes. */
const frameMs = 2_000

/** Maximum time in ms for which the job waits for a person's last inputs. */
const lastMs = 3_000

/** A page that is handed over to a person, who sees and uses it. */
export interface HandedOverPage {
  /**
   * Returns the newest frame after number `after`; null when there is none within seconds.
   *
   * @param viewer who reads it
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  frame(viewer: string, after: number): Promise<PageFrame | null>
  /** Gives up a viewer's place. */
  leave(viewer: string): void
  /** Queues a person's inputs; a batch with a known id is ignored. @throws {ServiceError} `rate_limit_exceeded` */
  input(id: string, inputs: readonly PageInput[]): void
}

/** A browser page that is handed over to a person. */
export class LivePage implements HandedOverPage {
  readonly #frames: PageFrames
  readonly #input: PersonInput
  readonly #queue: InputQueue
  readonly #viewers = new Viewers(() => performance.now())

  /** @param now ms since the epoch */
  constructor(page: Page, now: () => number) {
    this.#frames = new PageFrames(page, now)
    this.#input = new PersonInput(page)
    this.#queue = new InputQueue(
      (input) => this.#input.act(input),
      () => performance.now(),
    )
  }

  async frame(viewer: string, after: number): Promise<PageFrame | null> {
    this.#viewers.take(viewer)
    return this.#frames.next(after, frameMs)
  }

  leave(viewer: string): void {
    this.#viewers.leave(viewer)
  }

  input(id: string, inputs: readonly PageInput[]): void {
    this.#queue.take(id, inputs)
  }

  /** Returns the page to the job. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([this.#frames.close(), this.#queue.close(lastMs)])
    await this.#input.letGo()
  }
}
