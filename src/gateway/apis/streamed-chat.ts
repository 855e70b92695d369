import type { BytesResult } from '#actors/call/use-cases.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ChatCall, ChatCalls, ChatControl, ChatSummary } from '../call/chat-calls.ts'
import {
  type AnswerHeaders,
  eventStream,
  type KeepAlive,
  PushedBody,
  streamHeaders,
} from '../call/streaming/pushed-body.ts'

/** How a form writes a streamed answer: SSE frames as text, '' for none. */
export interface StreamForm {
  /** Headers beside those of every answer. */
  readonly headers?: AnswerHeaders
  chunk(chunk: WireObject): string
  /** The last frames; a promise where something has to be durable before the end. It is never rejected. */
  end(summary: ChatSummary): string | Promise<string>
  /** The last frames of an answer that broke after its beginning. */
  fail(error: ServiceError): string
}

/** How a streamed answer is written, and when it begins. */
export interface StreamOptions {
  readonly form: StreamForm
  /** After what silence the stream begins without its provider. */
  readonly keepAlive?: KeepAlive | undefined
}

/** The error that callers see: an unforeseen one is `internal_error`. */
export const shownError = (error: Error): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal_error', { cause: error })

/**
 * A chat answer as a body of frames. Resolves when the provider has begun, or when it has been silent for long.
 *
 * @throws {ServiceError} what `ChatCalls` refuses before that; `cancelled` when the caller went away.
 */
export const streamedChat = (chat: ChatCalls, call: ChatCall, { form, keepAlive }: StreamOptions) =>
  new Promise<BytesResult>((resolve, reject) => {
    const held: { control: ChatControl | null } = { control: null }
    const open = (headers: AnswerHeaders): void => {
      const all = [...streamHeaders, ...headers, ...(form.headers ?? [])]
      resolve({ contentType: eventStream, bytes: body, headers: all })
    }
    const body = new PushedBody({ open, resume: () => held.control?.resume() }, keepAlive)
    const refuse = (error: Error): void => {
      if (!body.isOpen) body.close()
      reject(error)
    }
    whenAborted(call.signal, () => refuse(new ServiceError('cancelled')))
    held.control = chat.stream(call, {
      begin: ({ headers }) => body.open(headers),
      chunk: (chunk) => body.write(form.chunk(chunk)),
      end: (summary) => {
        const last = form.end(summary)
        if (typeof last === 'string') finish(body, last)
        else void last.then((frames) => finish(body, frames))
      },
      fail: (error) => {
        if (!body.isOpen) {
          refuse(error)
          return
        }
        finish(body, form.fail(shownError(error)))
      },
    })
  })

const finish = (body: PushedBody, frames: string): void => {
  body.write(frames)
  body.end()
}

/** Calls at once when the signal has aborted already. */
export const whenAborted = (signal: AbortSignal, listener: () => void): void => {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}
