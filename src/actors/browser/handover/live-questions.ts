import type { Host } from '#runtime/host.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { PageInput } from '../engine/live/input-queue.ts'
import type { PersonsPage } from '../engine/live/live-page.ts'
import type { PageFrame } from '../engine/live/page-frames.ts'
import { liveQuestion, saidFrame } from './schema.ts'

/** What a page that is a person's answers, to this process or to another one. */
export const answering =
  (page: PersonsPage) =>
  async (question: JsonObject): Promise<JsonObject> => {
    const live = liveQuestion(question)
    if (live.kind === 'frame') return { frame: await page.frame(live.after).then((frame) => frame && { ...frame }) }
    page.input(live.id, live.inputs)
    return { frame: null }
  }

/** The page of a job, wherever its browser runs. Null when it is no person's now. */
export class LivePages {
  readonly #host: Pick<Host, 'question'>

  constructor(host: Pick<Host, 'question'>) {
    this.#host = host
  }

  /** The newest frame after number `after`; `frame` null: none within seconds. @throws {StoreUnavailable | ServiceError} */
  async frame(job: string, after: number): Promise<{ readonly frame: PageFrame | null } | null> {
    const said = await this.#host.question(job, { kind: 'frame', after })
    return said === null ? null : saidFrame(said)
  }

  /** @param id the same again is not done again. @returns false: the page is no person's now. @throws {StoreUnavailable | ServiceError} */
  async input(job: string, id: string, inputs: readonly PageInput[]): Promise<boolean> {
    return (
      (await this.#host.question(job, { kind: 'input', id, inputs: inputs.map((input) => ({ ...input })) })) !== null
    )
  }
}
