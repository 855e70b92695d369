import type { StreamForm } from '#gateway/apis/streamed-chat.ts'
import type { ChatSummary } from '#gateway/call/chat-calls.ts'
import { completionOf } from '#gateway/providers/completion-of.ts'
import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { blocksOf } from '../message-answer.ts'
import type { MessageFrames } from '../message-frames.ts'

/** Ends the thread of a streamed answer. */
export interface ThreadEnd {
  /** Stores the complete answer: its id and its blocks. */
  keep(id: string, content: unknown): void
  release(): void
}

/** Collects a streamed answer while it is written, so that its thread can be continued. */
export class ThreadedFrames implements StreamForm {
  readonly headers: NonNullable<StreamForm['headers']>
  readonly #frames: MessageFrames
  readonly #end: ThreadEnd
  readonly #chunks: WireObject[] = []

  constructor(frames: MessageFrames, end: ThreadEnd) {
    this.headers = frames.headers
    this.#frames = frames
    this.#end = end
  }

  chunk(chunk: WireObject): string {
    this.#chunks.push(chunk)
    return this.#frames.chunk(chunk)
  }

  end(summary: ChatSummary): string {
    const last = this.#frames.end(summary)
    const [choice] = arrayOf(completionOf(this.#chunks).choices)
    this.#end.keep(this.#frames.id, blocksOf(objectOf(objectOf(choice).message)))
    return last
  }

  fail(error: ServiceError): string {
    this.#end.release()
    return this.#frames.fail(error)
  }
}
