import { ServiceError } from '#specs/errors/errors.ts'
import type { Charge } from '../call/accounting/charge.ts'
import type { ChatCall, ChatCalls, ChatControl, ChatListener, ChatOutcome } from '../call/chat-calls.ts'
import { ChatRun } from './chat-run.ts'
import type { ChatParts, ChatRunRequest, RunListener, WholeAnswer } from './chat-run-request.ts'
import { chargeLost } from './lost-answer.ts'
import { ShadowCalls } from './rules/shadow-calls.ts'

/** Controls a running request. */
export interface ChatHandle {
  resume(): void
  /** Cancels the request because the caller has disconnected. */
  cancel(): void
  /**
   * Resolves when the cost is durably counted in the budgets; undefined when there is none. Called after the request
   * has ended.
   * @throws {StoreUnavailable}
   */
  counted(): Promise<void> | undefined
}

/**
 * Chat with any model. `complete` and `stream` are for APIs that convert requests; `run` is for callers that pass bytes
 * through.
 */
export class Chats implements ChatCalls {
  readonly #parts: ChatParts

  constructor(parts: Omit<ChatParts, 'shadows'>) {
    const shadows = new ShadowCalls((request, listener) => this.run(request, listener))
    this.#parts = { ...parts, shadows }
  }

  /** Starts immediately; the listener may be called before this returns. */
  run(request: ChatRunRequest, listener: RunListener): ChatHandle {
    const run = new ChatRun(this.#parts, request, listener)
    run.start()
    return run
  }

  /** Charges an answer whose process has ended (`chargeLost`). @throws {StoreUnavailable} */
  lost(request: ChatRunRequest, text: string): Promise<Charge | null> {
    return chargeLost(this.#parts, request, text)
  }

  complete(call: ChatCall): Promise<ChatOutcome> {
    return new Promise((resolve, reject) => {
      const run = new ChatRun(
        this.#parts,
        { ...call, bytes: null, stream: false, translated: true },
        wholeListener(resolve, reject),
      )
      whenGone(call.signal, () => {
        run.cancel()
        reject(new ServiceError('cancelled'))
      })
      run.start()
    })
  }

  stream(call: ChatCall, listener: ChatListener): ChatControl {
    const run = new ChatRun(
      this.#parts,
      { ...call, bytes: null, stream: true, translated: true },
      chunkListener(listener),
    )
    whenGone(call.signal, () => run.cancel())
    run.start()
    return run
  }

  /** Closes all connections to providers. */
  close(): Promise<void> {
    return this.#parts.upstreams.close()
  }
}

/** Returns a listener that resolves a promise with a non-streamed answer. */
export const wholeListener = (resolve: (answer: WholeAnswer) => void, reject: (error: Error) => void): RunListener =>
  new WholeListener(resolve, reject)

class WholeListener implements RunListener {
  readonly takesFrames = false
  readonly whole: RunListener['whole']
  readonly fail: RunListener['fail']

  constructor(whole: RunListener['whole'], fail: RunListener['fail']) {
    this.whole = whole
    this.fail = fail
  }

  begin(): void {}

  frames(): boolean {
    return true
  }

  chunk(): boolean {
    return true
  }

  end(): void {}
}

const chunkListener = (listener: ChatListener): RunListener => ({
  takesFrames: false,
  begin: (about) => listener.begin(about),
  frames: () => true,
  chunk: (chunk) => listener.chunk(chunk),
  whole: () => {},
  end: (summary) => listener.end(summary),
  fail: (error) => listener.fail(error),
})

const whenGone = (signal: AbortSignal, gone: () => void): void => {
  if (signal.aborted) gone()
  else signal.addEventListener('abort', gone, { once: true })
}
