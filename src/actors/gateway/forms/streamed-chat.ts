import { ServiceError } from '../../../../specs/errors.ts'
import type { BytesResult } from '../../use-cases/use-cases.ts'
import type { ChatAsk, ChatCalls, ChatControl, ChatSummary } from '../calls/chat-calls.ts'
import type { WireObject } from '../wire.ts'
import { FrameBody } from './frame-body.ts'

type Headers = readonly (readonly [name: string, value: string])[]

/** How a form writes a streamed answer: SSE frames as text, '' for none. */
export interface StreamForm {
  /** Headers beside those of every answer. */
  readonly headers?: Headers
  chunk(chunk: WireObject): string
  end(summary: ChatSummary): string
  /** The last frames of an answer that broke after its beginning. */
  fail(error: ServiceError): string
}

/** The content type of all streams of this folder. */
export const eventStream = 'text/event-stream; charset=utf-8'

/** Headers of every stream: no cache, and no proxy that gathers it. */
export const streamHeaders: Headers = [
  ['cache-control', 'no-store'],
  ['x-accel-buffering', 'no'],
]

/** What went wrong, as callers are told: what nobody foresaw is ours. */
export const shownError = (error: Error): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal_error')

/**
 * A chat answer as a body of frames. Resolves when the provider has begun.
 *
 * @throws {ServiceError} what `ChatCalls` refuses before that; `cancelled` when the caller went away.
 */
export const streamedChat = (chat: ChatCalls, ask: ChatAsk, form: StreamForm): Promise<BytesResult> =>
  new Promise((resolve, reject) => {
    const open: { control: ChatControl | null; begun: boolean } = { control: null, begun: false }
    const body = new FrameBody({ onResume: () => open.control?.resume() })
    whenAborted(ask.signal, () => reject(new ServiceError('cancelled')))
    open.control = chat.stream(ask, {
      begin: ({ headers }) => {
        open.begun = true
        const all = [...streamHeaders, ...headers, ...(form.headers ?? [])]
        resolve({ contentType: eventStream, bytes: body, headers: all })
      },
      chunk: (chunk) => body.write(form.chunk(chunk)),
      end: (summary) => {
        body.write(form.end(summary))
        body.end()
      },
      fail: (error) => {
        if (!open.begun) {
          reject(error)
          return
        }
        body.write(form.fail(shownError(error)))
        body.end()
      },
    })
  })

/** Calls at once when the signal has aborted already. */
export const whenAborted = (signal: AbortSignal, listener: () => void): void => {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
}
