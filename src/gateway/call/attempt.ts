import type { Dispatcher } from 'undici'
import type { Ticker, Ticking } from '#runtime/ticker.ts'
import type { CallPolicy } from './call-policy.ts'
import {
  AttemptFailed,
  cancelled,
  type ErrorAnswer,
  errorCodeOf,
  refusedAddress,
  streamBroken,
  timedOut,
  unreachable,
} from './failure.ts'
import { atEndOfTask } from './streaming/end-of-task.ts'

type Controller = Dispatcher.DispatchController

const maxErrorBytes = 64 * 1024

/** The answer is whole before the response has ended: so many ticks are waited for its end, then the connection is cut. */
const lingerTicks = 5

/** Receives what one attempt brings. `bytes` and `over` may throw {AttemptFailed}: the attempt has failed then. */
export interface AttemptListener {
  /** Parts of the body of a good answer, gathered by what the network brought together. */
  bytes(part: Buffer): void
  /** The body of a good answer is over. */
  over(): void
  /** Called at most once, and last. */
  failed(failure: AttemptFailed): void
  /** What an answer with an error status means. */
  failureOf(answer: ErrorAnswer): AttemptFailed
}

/** How long an attempt may be silent, and the ticker that counts it. */
export interface Patience extends Pick<CallPolicy, 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'totalTimeoutMs'> {
  readonly ticker: Ticker
}

/** One request to a provider: the handler that undici calls. It settles once; settling early cuts the connection at once. */
export class Attempt implements Dispatcher.DispatchHandler, Ticking {
  readonly #listener: AttemptListener
  readonly #patience: Patience
  place = -1
  #controller: Controller | null = null
  #status = 0
  #retryAfter: string | null = null
  #errorBody = ''
  #part: Buffer | null = null
  #more: Buffer[] | null = null
  #begun = false
  #settled = false
  #paused = false
  #quietTicks = 0
  #ticksLeft: number
  readonly #endsAt: number

  /** @param sinceMs when its call began, by `performance.now()`. */
  constructor(listener: AttemptListener, patience: Patience, sinceMs: number) {
    this.#listener = listener
    this.#patience = patience
    this.#ticksLeft = patience.ticker.ticks(patience.firstByteTimeoutMs)
    this.#endsAt = sinceMs + patience.totalTimeoutMs
    patience.ticker.add(this)
  }

  /** The caller is gone, or has all that it wanted to know. */
  cancel(): void {
    if (this.#settled) return
    this.#settle()
    this.#controller?.abort(cancelled())
  }

  /** The answer is whole: what follows is of no interest. */
  finish(): void {
    if (this.#settled) return
    this.#settled = true
    this.#quietTicks = 0
    this.#ticksLeft = lingerTicks
    if (this.#paused) this.#controller?.resume()
  }

  pause(): void {
    if (this.#settled || this.#paused) return
    this.#paused = true
    this.#controller?.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#quietTicks = 0
    if (!this.#settled) this.#controller?.resume()
  }

  tick(): void {
    // an answer that comes byte by byte, or says only that it lives, is never silent for long
    if (!this.#settled && performance.now() >= this.#endsAt) {
      this.#fail(timedOut('end'))
      return
    }
    // a caller that does not read cannot blame the provider for its silence
    if (this.#paused || ++this.#quietTicks < this.#ticksLeft) return
    if (this.#settled) {
      this.#patience.ticker.delete(this)
      this.#controller?.abort(streamBroken())
    } else this.#fail(timedOut(this.#begun ? 'continue' : 'answer'))
  }

  /** A tick threw: the provider's answer cannot be waited for any more. */
  fail(): void {
    if (!this.#settled) this.#fail(streamBroken())
  }

  /** Called when the request leaves the queue; one that was given up meanwhile is not sent. */
  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#settled) controller.abort(cancelled())
  }

  onResponseStart(_: Controller, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return
    this.#status = status
    const retryAfter = headers['retry-after']
    if (typeof retryAfter === 'string') this.#retryAfter = retryAfter
  }

  onResponseData(_: Controller, part: Buffer): void {
    if (this.#settled) return
    this.#quietTicks = 0
    if (!this.#isGood()) {
      if (this.#errorBody.length < maxErrorBytes) this.#errorBody += part.toString('latin1')
      return
    }
    if (!this.#begun) {
      this.#begun = true
      this.#ticksLeft = this.#patience.ticker.ticks(this.#patience.idleTimeoutMs)
    }
    if (this.#part === null) {
      this.#part = part
      atEndOfTask(this.#flush)
    } else if (this.#more === null) this.#more = [this.#part, part]
    else this.#more.push(part)
  }

  onResponseEnd(): void {
    this.#patience.ticker.delete(this)
    if (this.#settled) return
    if (!this.#isGood()) {
      const body = Buffer.from(this.#errorBody, 'latin1').toString('utf8')
      this.#fail(this.#listener.failureOf({ status: this.#status, body, retryAfter: this.#retryAfter }))
      return
    }
    this.#flush()
    if (this.#settled) return
    this.#settle()
    this.#deliver(() => this.#listener.over())
  }

  onResponseError(_: Controller, error: Error): void {
    this.#patience.ticker.delete(this)
    if (this.#settled) return
    this.#flush()
    if (this.#settled) return
    this.#fail(this.#failureBy(error))
  }

  #isGood(): boolean {
    return this.#status >= 200 && this.#status < 300
  }

  #failureBy(error: Error): AttemptFailed {
    if (this.#begun || this.#isGood()) return streamBroken()
    if (this.#status >= 300)
      return this.#listener.failureOf({ status: this.#status, body: '', retryAfter: this.#retryAfter })
    if (errorCodeOf(error) === 'UND_ERR_DESTROYED') return cancelled()
    if (error.name === 'SsrfRefused') return refusedAddress()
    return unreachable()
  }

  /** All that the network brought in one go is handed on together: undici calls once for each chunk of the encoding. */
  readonly #flush = (): void => {
    const part = this.#part
    if (part === null || this.#settled) return
    const more = this.#more
    this.#part = null
    this.#more = null
    this.#deliver(() => this.#listener.bytes(more === null ? part : Buffer.concat(more)))
  }

  #deliver(deliver: () => void): void {
    try {
      deliver()
    } catch (caught) {
      const failure = caught instanceof AttemptFailed ? caught : streamBroken()
      if (!this.#settled) this.#fail(failure)
      else this.#listener.failed(failure)
    }
  }

  #settle(): void {
    this.#settled = true
    this.#part = null
    this.#more = null
    this.#patience.ticker.delete(this)
  }

  #fail(failure: AttemptFailed): void {
    this.#settle()
    this.#controller?.abort(failure)
    this.#listener.failed(failure)
  }
}
