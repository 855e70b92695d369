import type { Dispatcher } from 'undici'
import { type CallPolicy, withRetries } from '../call/call-policy.ts'
import {
  type AttemptFailed,
  cancelled,
  refused,
  statusFailure,
  streamBroken,
  timedOut,
  unreachable,
} from '../call/failure.ts'
import { ModelError } from '../call/provider-port.ts'
import type { Route } from '../call/routes.ts'
import type { Upstream, Upstreams } from '../call/upstreams.ts'
import type { VoiceRequest } from '../providers/voice/voice-format.ts'

/** An answer whose first bytes are there. Read it to its end, or close it. */
export interface OpenAnswer {
  /** The next bytes; null when the answer is whole. @throws {AttemptFailed} */
  next(): Promise<Buffer | null>
  /** Cancels the provider's request unless it is over. */
  close(): void
}

/** Limits of one call. */
export interface VoicePolicy extends CallPolicy {
  /** From the first attempt to the last byte; null: an answer that goes on may go on. */
  readonly totalTimeoutMs: number | null
}

/** How one call went so far; for the log. */
export interface CallCourse {
  attempts: number
  /** Status that the provider answered last; null when it answered none. */
  status: number | null
}

const maxErrorBytes = 64 * 1024

/**
 * Sends a request to a route, again before the first byte where that may help.
 *
 * @throws {ModelError} of the last attempt; `cancelled` as soon as `signal` aborts: the provider's request is cancelled
 * with it, also while the answer is read.
 */
export const openAnswer = async (
  upstreams: Pick<Upstreams, 'of'>,
  route: Route,
  request: VoiceRequest,
  { policy, signal, course }: { policy: VoicePolicy; signal: AbortSignal; course: CallCourse },
): Promise<OpenAnswer> => {
  const startedMs = performance.now()
  return withRetries(policy, signal, async () => {
    course.attempts++
    const spentMs = performance.now() - startedMs
    const leftMs = policy.totalTimeoutMs === null ? null : Math.max(1, policy.totalTimeoutMs - spentMs)
    const attempt = new Attempt(policy, leftMs, signal)
    try {
      await attempt.begin(upstreamOf(upstreams, route), request, course)
      return attempt
    } catch (caught) {
      attempt.close()
      throw caught
    }
  })
}

/** A customer's server that may not be reached is one that cannot be. */
const upstreamOf = (upstreams: Pick<Upstreams, 'of'>, route: Route): Upstream => {
  try {
    return upstreams.of(route)
  } catch {
    throw refused(new ModelError('provider_unavailable', 'The provider cannot be reached.'))
  }
}

/** One request and its answer, with the clock over it. */
class Attempt implements OpenAnswer {
  readonly #policy: CallPolicy
  readonly #caller: AbortSignal
  readonly #aborter = new AbortController()
  readonly #onGone = (): void => this.#end(cancelled())
  readonly #total: NodeJS.Timeout | null
  #timer: NodeJS.Timeout | null = null
  #reason: AttemptFailed | null = null
  #parts: AsyncIterator<Buffer> | null = null
  #first: Buffer | null = null

  constructor(policy: CallPolicy, leftMs: number | null, caller: AbortSignal) {
    this.#policy = policy
    this.#caller = caller
    this.#total = leftMs === null ? null : setTimeout(() => this.#end(timedOut('answer')), leftMs)
    caller.addEventListener('abort', this.#onGone)
    if (caller.aborted) this.#onGone()
  }

  /** Resolves when the first bytes of a good answer are there. */
  async begin(upstream: Upstream, request: VoiceRequest, course: CallCourse): Promise<void> {
    course.status = null
    this.#timer = setTimeout(() => this.#end(timedOut('answer')), this.#policy.firstByteTimeoutMs)
    const answer = await this.#sent(upstream, request)
    course.status = answer.statusCode
    // whoever reads the body sees its errors; a body that is thrown away must not end the process with one
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
    // only while bytes are waited for: a reader that takes its time is not the provider's silence
    this.#timer = setTimeout(() => this.#end(timedOut('continue')), this.#policy.idleTimeoutMs)
    const part = await this.#read()
    this.#stopTimer()
    if (part === null) this.close()
    return part
  }

  close(): void {
    this.#stopTimer()
    if (this.#total !== null) clearTimeout(this.#total)
    this.#caller.removeEventListener('abort', this.#onGone)
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
    const body = await readUpTo(answer.body, maxErrorBytes).catch(() => '')
    if (this.#reason !== null) return this.#reason
    return statusFailure(answer.statusCode, body, typeof retryAfter === 'string' ? retryAfter : null, Date.now())
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

async function readUpTo(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    parts.push(part)
    size += part.length
    if (size >= maxBytes) break
  }
  return Buffer.concat(parts).toString('utf8')
}
