import type { Dispatcher } from 'undici'
import { boundedBody } from '#outgoing/bounded-body.ts'
import type { CallPolicy } from '../call/call-policy.ts'
import { type AttemptFailed, cancelled, statusFailure, streamBroken, timedOut, unreachable } from '../call/failure.ts'
import type { Upstream } from '../call/upstreams.ts'
import type { VoiceRequest } from '../providers/voice/voice-format.ts'

/** A provider's response whose first bytes have arrived. Callers must read it to its end, or close it. */
export interface OpenAnswer {
  /** Returns the next bytes; null when the response is complete. @throws {AttemptFailed} */
  next(): Promise<Buffer | null>
  /** Cancels the provider's request unless it has ended. */
  close(): void
}

/** Options of one attempt. */
export interface AnswerOptions {
  readonly policy: CallPolicy
  readonly signal: AbortSignal
  /** ms of the total timeout that earlier attempts have used. */
  readonly spentMs: number
  /** Called with the status of the provider's response. */
  readonly onStatus: (status: number) => void
}

const maxErrorBytes = 64 * 1024

/**
 * Makes one attempt: sends a request, and waits for the first bytes of its response.
 *
 * @throws {AttemptFailed} `cancelled` as soon as `signal` aborts. The provider's request is then cancelled too, also
 * while the response is being read.
 */
export const openAnswer = async (
  upstream: Upstream,
  request: VoiceRequest,
  options: AnswerOptions,
): Promise<OpenAnswer> => {
  const attempt = new Attempt(options)
  try {
    await attempt.begin(upstream, request)
    return attempt
  } catch (caught) {
    attempt.close()
    throw caught
  }
}

/** Maximum size of a response: ten minutes of uncompressed speech, or ten hours of transcript with word times. */
const maxAnswerBytes = 64 * 1024 * 1024

/** Reads a response to its end, chunk by chunk. @throws {AttemptFailed} also when it exceeds the maximum size. */
export const readAnswer = async (answer: OpenAnswer, take: (part: Buffer) => void): Promise<void> => {
  let size = 0
  for (let part = await answer.next(); part !== null; part = await answer.next()) {
    size += part.length
    if (size > maxAnswerBytes) throw streamBroken()
    take(part)
  }
}

/** One request and its response, with their timeouts. */
class Attempt implements OpenAnswer {
  readonly #options: AnswerOptions
  readonly #aborter = new AbortController()
  readonly #onGone = (): void => this.#end(cancelled())
  readonly #total: NodeJS.Timeout
  #timer: NodeJS.Timeout | null = null
  #reason: AttemptFailed | null = null
  #parts: AsyncIterator<Buffer> | null = null
  #first: Buffer | null = null

  constructor(options: AnswerOptions) {
    const { policy, signal, spentMs } = options
    const { totalTimeoutMs } = policy
    this.#options = options
    this.#total = setTimeout(() => this.#end(timedOut('end')), Math.max(1, totalTimeoutMs - spentMs))
    signal.addEventListener('abort', this.#onGone)
    if (signal.aborted) this.#onGone()
  }

  /** Resolves when the first bytes of a successful response have arrived. */
  async begin(upstream: Upstream, request: VoiceRequest): Promise<void> {
    this.#timer = setTimeout(() => this.#end(timedOut('answer')), this.#options.policy.firstByteTimeoutMs)
    const answer = await this.#sent(upstream, request)
    this.#options.onStatus(answer.statusCode)
    // errors are seen by the reader of the body; an error of a discarded body must not crash the process
    answer.body.on('error', () => {})
    if (answer.statusCode !== 200) throw await this.#refusal(answer)
    this.#parts = answer.body[Symbol.asyncIterator]()
    this.#first = await this.#read()
    this.#stopTimer()
  }

  async next(): Promise<Buffer | null> {
    const first = this.#first
    this.#first = null
    if (first !== null) return first
    // the idle timeout runs only while bytes are awaited: a slow reader is not a silent provider
    this.#timer = setTimeout(() => this.#end(timedOut('continue')), this.#options.policy.idleTimeoutMs)
    const part = await this.#read()
    this.#stopTimer()
    if (part === null) this.close()
    return part
  }

  close(): void {
    this.#stopTimer()
    clearTimeout(this.#total)
    this.#options.signal.removeEventListener('abort', this.#onGone)
    this.#aborter.abort()
  }

  async #sent({ dispatcher, origin, basePath }: Upstream, { path, headers, body }: VoiceRequest) {
    const { signal } = this.#aborter
    try {
      return await dispatcher.request({ origin, path: `${basePath}${path}`, method: 'POST', headers, body, signal })
    } catch {
      throw this.#reason ?? unreachable()
    }
  }

  async #read(): Promise<Buffer | null> {
    try {
      const { done, value } = (await this.#parts?.next()) ?? { done: true, value: null }
      return done === true ? null : value
    } catch {
      throw this.#reason ?? streamBroken()
    }
  }

  async #refusal(answer: Dispatcher.ResponseData): Promise<AttemptFailed> {
    const retryAfter = answer.headers['retry-after']
    const { bytes } = await boundedBody(answer.body, { maxBytes: maxErrorBytes, partial: true })
    if (this.#reason !== null) return this.#reason
    return statusFailure(
      {
        status: answer.statusCode,
        body: bytes.toString('utf8'),
        retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      },
      Date.now(),
    )
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #end(reason: AttemptFailed): void {
    this.#reason ??= reason
    this.#aborter.abort()
  }
}
