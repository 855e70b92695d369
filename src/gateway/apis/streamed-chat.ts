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

/** Writes a streamed answer in the form of one API: SSE frames as text, '' for none. */
export interface StreamForm {
  /** Headers in addition to those of every answer. */
  readonly headers?: AnswerHeaders
  chunk(chunk: WireObject): string
  /** Returns the last frames; as a promise, which must not reject, when something has to be durable before the end. */
  end(summary: ChatSummary): string | Promise<string>
  /** Returns the last frames of an answer that failed after its beginning. */
  fail(error: ServiceError): string
}

/** Options of a streamed answer. */
export interface StreamOptions {
  readonly form: StreamForm
  /** Keep-alive of the stream; it also sets how long a silent provider delays the head of the answer. */
  readonly keepAlive?: KeepAlive | undefined
}

/** Returns the error for callers: anything but a {ServiceError} becomes `internal_error`. */
export const shownError = (error: Error): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal_error', { cause: error })

/**
 * Streams a chat answer as a body of frames. Resolves when the provider has begun, or when it has been silent for the
 * keep-alive interval.
 *
 * @throws {ServiceError} the errors of `ChatCalls` before that; `cancelled` when the caller disconnected.
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

/** Calls the listener when the signal aborts; immediately when it has already aborted. */
export const whenAborted = (signal: AbortSignal, listener: () => void): void => {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}
