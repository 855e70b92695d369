import { ServiceError } from '../../../specs/errors.ts'
import type { ChatAsk, ChatCalls, ChatControl, ChatListener, ChatOutcome } from '../call/chat-calls.ts'
import { type ChatParts, ChatRun, type ChatRunRequest, type RunListener, type WholeAnswer } from './chat-run.ts'

/** A request that runs. */
export interface ChatHandle {
  resume(): void
  /** The caller is gone. */
  cancel(): void
  /** Resolves when budgets know durably what it cost; undefined: none stands. Asked when it is over. @throws {StoreUnavailable} */
  counted(): Promise<void> | undefined
}

/** Chat with any model. Forms of other words use `complete` and `stream`; `run` is for those that take bytes. */
export class Chats implements ChatCalls {
  readonly #parts: ChatParts

  constructor(parts: ChatParts) {
    this.#parts = parts
  }

  /** Begins at once; the taker may be told before this returns. */
  run(asked: ChatRunRequest, taker: RunListener): ChatHandle {
    const run = new ChatRun(this.#parts, asked, taker)
    run.start()
    return run
  }

  complete(ask: ChatAsk): Promise<ChatOutcome> {
    return new Promise((resolve, reject) => {
      const run = new ChatRun(
        this.#parts,
        { ...ask, bytes: null, stream: false, translated: true },
        wholeTaker(resolve, reject),
      )
      whenGone(ask.signal, () => {
        run.cancel()
        reject(new ServiceError('cancelled'))
      })
      run.start()
    })
  }

  stream(ask: ChatAsk, listener: ChatListener): ChatControl {
    const run = new ChatRun(this.#parts, { ...ask, bytes: null, stream: true, translated: true }, chunkTaker(listener))
    whenGone(ask.signal, () => run.cancel())
    run.start()
    return run
  }

  /** Ends all connections to providers. */
  close(): Promise<void> {
    return this.#parts.upstreams.close()
  }
}

/** Takes a whole answer as what a promise promises. */
export const wholeTaker = (resolve: (answer: WholeAnswer) => void, reject: (error: Error) => void): RunListener => ({
  takesFrames: false,
  begin: () => {},
  frames: () => true,
  chunk: () => true,
  whole: resolve,
  end: () => {},
  fail: reject,
})

const chunkTaker = (listener: ChatListener): RunListener => ({
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
