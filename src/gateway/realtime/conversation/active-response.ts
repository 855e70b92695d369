import { objectOf, type WireObject } from '#outgoing/wire.ts'
import { errors, ServiceError } from '#specs/errors/errors.ts'
import type { Outlet } from '../outlet.ts'
import { Speaker } from '../speech/speaker.ts'
import type { Voices } from '../speech/voices.ts'
import type { Conversation } from './conversation.ts'
import { type ResponseEnd, ResponseWriter } from './response-writer.ts'
import type { SessionConfig } from './session-config.ts'

export interface ActiveResponseParts {
  readonly outlet: Outlet
  readonly conversation: Conversation
  readonly conversationId: string
  readonly voices: Voices
}

/** Writes what an answer consists of, and resolves with its end. @throws {ServiceError} */
export type Answer = (response: ActiveResponse) => Promise<ResponseEnd>

/** The response in progress: text goes out as it comes, or is spoken. */
export class ActiveResponse {
  readonly config: SessionConfig
  /** Input of its own instead of the conversation; null: the conversation. */
  readonly input: readonly unknown[] | null
  readonly writer: ResponseWriter
  readonly #outlet: Outlet
  readonly #speaker: Speaker | null
  readonly #aborter = new AbortController()

  constructor(
    { outlet, conversation, conversationId, voices }: ActiveResponseParts,
    config: SessionConfig,
    request: WireObject,
  ) {
    const { conversation: kept, metadata, input } = objectOf(request)
    this.config = config
    this.input = Array.isArray(input) ? input : null
    this.#outlet = outlet
    const head = { conversationId: kept === 'none' ? null : conversationId, speaks: config.speaks, metadata }
    this.writer = new ResponseWriter(outlet.send, conversation, head)
    const { model, voice, speed } = config.voice
    const spoken = { voices, writer: this.writer, outlet, options: { model, voice, speed }, signal: this.signal }
    this.#speaker = config.speaks ? new Speaker(spoken) : null
  }

  get id(): string {
    return this.writer.id
  }

  get signal(): AbortSignal {
    return this.#aborter.signal
  }

  /** Adds to the text of the answer. @returns false when the client reads slowly: wait for `free`. */
  text(delta: string): boolean {
    if (this.#speaker === null) this.writer.text(delta)
    else this.#speaker.push(delta)
    return !this.#outlet.isBlocked
  }

  free(): Promise<void> {
    return this.#outlet.free()
  }

  /** Resolves when the text so far has been spoken. @throws {ServiceError} */
  async spoken(): Promise<void> {
    await this.#speaker?.finish()
  }

  /** Writes the answer to its end. Never rejects. */
  async run(answer: Answer): Promise<void> {
    this.writer.begin()
    try {
      const end = await answer(this)
      await this.spoken()
      this.writer.end(end)
    } catch (error) {
      // a response that was cancelled has ended already
      if (this.signal.aborted) return
      this.writer.end({ status: 'failed', details: { error: errorOf(error) }, usage: null })
      if (!(error instanceof ServiceError)) throw error
    }
  }

  /** Ends the response, because the client cancels it or the user speaks. */
  cancel(reason: 'client_cancelled' | 'turn_detected'): void {
    this.#aborter.abort()
    this.writer.end({ status: 'cancelled', details: { reason }, usage: null })
  }
}

/** The error of a response that failed. */
export const errorOf = (failure: unknown) => {
  const { code, message } = failure instanceof ServiceError ? failure : new ServiceError('internal_error')
  return { type: errors[code].type, code, message }
}
