import type { StreamForm } from '#gateway/apis/streamed-chat.ts'
import type { ChatSummary } from '#gateway/call/chat-calls.ts'
import type { RememberedChat } from '#gateway/remembering/chat-memory.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ServiceError } from '#specs/errors/errors.ts'

/** Reads the text of a streamed answer for memory; the stream ends after the memory write is durable. */
export class RememberingFrames implements StreamForm {
  readonly headers: NonNullable<StreamForm['headers']>
  readonly #frames: StreamForm
  readonly #remembered: RememberedChat

  constructor(frames: StreamForm, remembered: RememberedChat) {
    this.headers = frames.headers ?? []
    this.#frames = frames
    this.#remembered = remembered
  }

  chunk(chunk: WireObject): string {
    this.#remembered.add(textOf(objectOf(objectOf(arrayOf(chunk.choices)[0]).delta).content))
    return this.#frames.chunk(chunk)
  }

  async end(summary: ChatSummary): Promise<string> {
    const last = await this.#frames.end(summary)
    await this.#remembered.finish()
    return last
  }

  fail(error: ServiceError): string {
    return this.#frames.fail(error)
  }
}
