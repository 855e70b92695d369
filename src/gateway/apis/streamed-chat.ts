import type { BytesResult } from '#actors/call/use-cases.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ChatCall, ChatCalls, ChatControl, ChatSummary } from '../call/chat-calls.ts'
import { FrameBody, keepAliveMs } from './frame-body.ts'

type Headers = readonly (readonly [name: string, value: string])[]

/** How a form writes a streamed answer: SSE frames as text, '' for none. */
export interface StreamForm {
  /** Headers beside those of every answer. */
  readonly headers?: Headers
  chunk(chunk: WireObject): string
  /** The last frames; a promise where something has to be durable before the end. It is never rejected. */
  end(summary: ChatSummary): string | Promise<string>
  /** The last frames of an answer that broke after its beginning. */
  fail(error: ServiceError): string
}

/** How a streamed answer is written, and when it begins. */
export interface StreamOptions {
  readonly form: StreamForm
  /** ms of silence after which the stream begins without its provider. */
  readonly silenceMs?: number | undefined
}

/** The content type of all streams of this folder. */
export const eventStream = 'text/event-stream; charset=utf-8'

/** Headers of every stream: no cache, and no proxy that gathers it. */
export const streamHeaders: Headers = [
  ['cache-control', 'no-store'],
  ['x-accel-buffering', 'no'],
]

/** The error that callers see: an unforeseen one is `internal_error`. */
export const shownError = (error: Error): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal_error', { cause: error })

/**
 * A chat answer as a body of frames. Resolves when the provider has begun, or when it has been silent for long.
 *
 * @throws {ServiceError} what `ChatCalls` refuses before that; `cancelled` when the caller went away.
 */
export const streamedChat = (chat: ChatCalls, call: ChatCall, { form, silenceMs = keepAliveMs }: StreamOptions) =>
  new Promise<BytesResult>((resolve, reject) => {
    const held: { control: ChatControl | null } = { control: null }
    const body = new FrameBody({ onResume: () => held.control?.resume() })
    const opening = new Opening(
      silenceMs,
      () => body.keepAlive(),
      (headers) => {
        const all = [...streamHeaders, ...headers, ...(form.headers ?? [])]
        resolve({ contentType: eventStream, bytes: body, headers: all })
      },
    )
    const refuse = (error: Error): void => {
      opening.giveUp()
      reject(error)
    }
    whenAborted(call.signal, () => refuse(new ServiceError('cancelled')))
    held.control = chat.stream(call, {
      begin: ({ headers }) => opening.open(headers),
      chunk: (chunk) => body.write(form.chunk(chunk)),
      end: (summary) => {
        const last = form.end(summary)
        if (typeof last === 'string') finish(body, last)
        else void last.then((frames) => finish(body, frames))
      },
      fail: (error) => {
        if (!opening.isOpen) {
          refuse(error)
          return
        }
        finish(body, form.fail(shownError(error)))
      },
    })
  })

const finish = (body: FrameBody, frames: string): void => {
  body.write(frames)
  body.end()
}

/**
 * When the head of a streamed answer goes out: with its first frame, so that a refusal before it has a status of its own;
 * or, when the model is silent for long, with a comment, so that no proxy takes the connection for dead.
 */
export class Opening {
  readonly #open: (headers: Headers) => void
  readonly #timer: NodeJS.Timeout
  #isOpen = false

  /** @param silent called before the head goes out for silence. */
  constructor(silenceMs: number, silent: () => void, open: (headers: Headers) => void) {
    this.#open = open
    this.#timer = setTimeout(() => {
      silent()
      this.open([])
    }, silenceMs)
    this.#timer.unref()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  open(headers: Headers): void {
    if (this.#isOpen) return
    this.giveUp()
    this.#isOpen = true
    this.#open(headers)
  }

  /** There will be no answer. */
  giveUp(): void {
    clearTimeout(this.#timer)
  }
}

/** Calls at once when the signal has aborted already. */
export const whenAborted = (signal: AbortSignal, listener: () => void): void => {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}
