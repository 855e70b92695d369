import type { Dispatcher } from 'undici'
import type { CallPolicy } from './call-policy.ts'
import { AttemptFailed, cancelled, errorCodeOf, statusFailure, streamBroken, timedOut, unreachable } from './failure.ts'
import type { OpenAiAnswer } from './openai-answer.ts'
import type { ModelAnswer } from './provider-port.ts'

type DispatchController = Dispatcher.DispatchController

const maxErrorBytes = 64 * 1024
const lingerMs = 5_000

/**
 * One attempt of a streamed chat completion over `Pool.dispatch`: the handler that undici calls.
 *
 * It settles once. Settling early (abort, malformed chunk, time-out) destroys the upstream socket at once.
 */
export class OpenAiCall implements Dispatcher.DispatchHandler {
  readonly #answer: OpenAiAnswer
  readonly #policy: CallPolicy
  readonly #signal: AbortSignal
  readonly #resolve: (answer: ModelAnswer) => void
  readonly #reject: (failure: AttemptFailed) => void
  readonly #onAbort = (): void => this.#fail(cancelled())
  #controller: DispatchController | undefined
  #timer: NodeJS.Timeout
  #settled = false
  #begun = false
  #status = 0
  #retryAfter: string | null = null
  #errorBody = ''

  constructor(
    answer: OpenAiAnswer,
    policy: CallPolicy,
    signal: AbortSignal,
    resolve: (answer: ModelAnswer) => void,
    reject: (failure: AttemptFailed) => void,
  ) {
    this.#answer = answer
    this.#policy = policy
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
    this.#timer = setTimeout(() => this.#fail(timedOut('answer')), policy.firstByteTimeoutMs)
    signal.addEventListener('abort', this.#onAbort)
  }

  /** Called when the request leaves the queue; a call that was given up meanwhile is not sent. */
  onRequestStart(controller: DispatchController): void {
    this.#controller = controller
    if (this.#settled) controller.abort(new Error('given up'))
  }

  onResponseStart(_: DispatchController, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return
    this.#status = status
    const retryAfter = headers['retry-after']
    if (typeof retryAfter === 'string') this.#retryAfter = retryAfter
  }

  onResponseData(_: DispatchController, chunk: Buffer): void {
    if (this.#status !== 200) {
      if (this.#errorBody.length < maxErrorBytes) this.#errorBody += chunk.toString('latin1')
      return
    }
    if (this.#settled) return
    this.#keepAlive()
    try {
      this.#answer.push(chunk)
      if (this.#answer.done && !this.#settled) this.#succeed()
    } catch (caught) {
      this.#fail(caught instanceof AttemptFailed ? caught : streamBroken())
    }
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer)
    if (this.#settled) return
    if (this.#status !== 200) {
      const body = Buffer.from(this.#errorBody, 'latin1').toString('utf8')
      this.#fail(statusFailure(this.#status, body, this.#retryAfter, Date.now()))
      return
    }
    try {
      this.#succeed()
    } catch (caught) {
      this.#fail(caught instanceof AttemptFailed ? caught : streamBroken())
    }
    clearTimeout(this.#timer)
  }

  onResponseError(_: DispatchController, error: Error): void {
    clearTimeout(this.#timer)
    if (this.#settled) return
    if (this.#begun) {
      this.#fail(streamBroken())
      return
    }
    if (this.#status >= 300) {
      this.#fail(statusFailure(this.#status, '', this.#retryAfter, Date.now()))
      return
    }
    this.#fail(errorCodeOf(error) === 'UND_ERR_DESTROYED' ? cancelled() : unreachable())
  }

  /** The first byte ends one limit and starts the other; after it a chunk only moves the timer. */
  #keepAlive(): void {
    if (this.#begun) {
      this.#timer.refresh()
      return
    }
    this.#begun = true
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#fail(timedOut('continue')), this.#policy.idleTimeoutMs)
  }

  /** After `[DONE]` the response should end by itself; a server that holds it open loses the connection. */
  #succeed(): void {
    const answer = this.#answer.finish()
    this.#settled = true
    this.#signal.removeEventListener('abort', this.#onAbort)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#controller?.abort(new Error('not ended')), lingerMs)
    this.#timer.unref()
    this.#resolve(answer)
  }

  #fail(failure: AttemptFailed): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#controller?.abort(failure)
    this.#reject(failure)
  }
}
