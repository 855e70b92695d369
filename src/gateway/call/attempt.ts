import type { Dispatcher } from 'undici'
import type { Ticker, Ticking } from '#runtime/internal.ts'
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

/**
 * When the answer is complete before the response has ended, its end is awaited for this many ticks; then the
 * connection is cut.
 */
const lingerTicks = 5

/** Headers of an answer. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Receives the results of one attempt. `bytes` and `over` may throw {AttemptFailed}, which makes the attempt fail. */
export interface AttemptListener {
  /** Receives the headers of an answer, whose names are in lower case. */
  head?(headers: AnswerHeaders): void
  /** Receives a part of the body of a successful answer; chunks that arrived from the network together are one part. */
  bytes(part: Buffer): void
  /** The body of a successful answer has ended. */
  over(): void
  /** The attempt has failed. Called at most once, and last. */
  failed(failure: AttemptFailed): void
  /** Maps an answer with an error status to a failure. */
  failureOf(answer: ErrorAnswer): AttemptFailed
}

/** Timeouts of an attempt, and the ticker that counts them. */
export interface AttemptTimeouts extends Pick<CallPolicy, 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'totalTimeoutMs'> {
  readonly ticker: Ticker
}

/**
 * One HTTP request to a provider, as the handler that undici calls. It settles once; settling early cuts the connection
 * immediately.
 */
export class Attempt implements Dispatcher.DispatchHandler, Ticking {
  readonly #listener: AttemptListener
  readonly #patience: AttemptTimeouts
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

  /** @param sinceMs when the call of this attempt began, by `performance.now()`. */
  constructor(listener: AttemptListener, patience: AttemptTimeouts, sinceMs: number) {
    this.#listener = listener
    this.#patience = patience
    this.#ticksLeft = patience.ticker.ticks(patience.firstByteTimeoutMs)
    this.#endsAt = sinceMs + patience.totalTimeoutMs
    patience.ticker.add(this)
  }

  /** Cancels the attempt, because the caller has disconnected or needs nothing more. */
  cancel(): void {
    if (this.#settled) return
    this.#settle()
    this.#controller?.abort(cancelled())
  }

  /** Marks the answer as complete: the rest of the response is ignored. */
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
    // an answer that trickles in, or sends only keep-alives, never triggers the idle timeout
    if (!this.#settled && performance.now() >= this.#endsAt) {
      this.#fail(timedOut('end'))
      return
    }
    // while the caller does not read, silence is not the provider's fault
    if (this.#paused || ++this.#quietTicks < this.#ticksLeft) return
    if (this.#settled) {
      this.#patience.ticker.delete(this)
      this.#controller?.abort(streamBroken())
    } else this.#fail(timedOut(this.#begun ? 'continue' : 'answer'))
  }

  /** Called when the request could not be sent. */
  refuse(failure: AttemptFailed): void {
    if (!this.#settled) this.#fail(failure)
  }

  /** Called when a tick threw: the answer of the provider can no longer be awaited. */
  fail(): void {
    if (!this.#settled) this.#fail(streamBroken())
  }

  /** Called when the request leaves the queue; a request that was cancelled in the meantime is not sent. */
  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#settled) controller.abort(cancelled())
  }

  onResponseStart(_: Controller, status: number, headers: AnswerHeaders): void {
    if (status < 200) return
    this.#status = status
    this.#listener.head?.(headers)
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

  /**
   * Hands on everything that arrived from the network together as one part, because undici calls once for each chunk of
   * the transfer encoding.
   */
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
