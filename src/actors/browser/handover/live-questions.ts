import type { Host } from '#runtime/internal.ts'
import type { JsonObject } from '#storage/index.ts'
import type { PageInput } from '../engine/live/input-queue.ts'
import type { HandedOverPage } from '../engine/live/live-page.ts'
import type { PageFrame } from '../engine/live/page-frames.ts'
import { frameIn, liveQuestion } from './schema.ts'

/** Returns the function that answers requests for a handed-over page, from this process or another. */
export const answering =
  (page: HandedOverPage) =>
  async (question: JsonObject): Promise<JsonObject> => {
    const live = liveQuestion(question)
    if (live.kind === 'frame') {
      const frame = await page.frame(live.viewer, live.after)
      return { frame: frame && { ...frame } }
    }
    if (live.kind === 'leave') page.leave(live.viewer)
    else page.input(live.id, live.inputs)
    return { frame: null }
  }

/** Access to the page of a job on any process. Results are null when the page is not handed over. */
export class LivePages {
  readonly #host: Pick<Host, 'question'>

  constructor(host: Pick<Host, 'question'>) {
    this.#host = host
  }

  /**
   * Returns the newest frame after number `after`; its `frame` is null when there is none within seconds.
   *
   * @param viewer who reads it: each has a place among the limited number of viewers of the page until it leaves.
   * @throws {StoreUnavailable | ServiceError}
   */
  async frame(job: string, viewer: string, after: number): Promise<{ readonly frame: PageFrame | null } | null> {
    const answer = await this.#host.question(job, { kind: 'frame', viewer, after })
    return answer === null ? null : frameIn(answer)
  }

  /** Gives up a viewer's place. @throws {StoreUnavailable | ServiceError} */
  async leave(job: string, viewer: string): Promise<void> {
    await this.#host.question(job, { kind: 'leave', viewer })
  }

  /**
   * Sends inputs to the page. @param id a repeated batch is ignored. @returns false when the page is not handed over.
   * @throws {StoreUnavailable | ServiceError}
   */
  async input(job: string, id: string, inputs: readonly PageInput[]): Promise<boolean> {
    return (
      (await this.#host.question(job, { kind: 'input', id, inputs: inputs.map((input) => ({ ...input })) })) !== null
    )
  }
}
