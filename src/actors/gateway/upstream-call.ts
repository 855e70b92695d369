import { Agent, type Dispatcher } from 'undici'
import type { CallPolicy } from './call-policy.ts'
import {
  AttemptFailed,
  cancelled,
  refused,
  statusFailure,
  streamBroken,
  streamedFailure,
  timedOut,
  unreachable,
} from './failure.ts'
import { ModelError } from './provider-port.ts'

const maxErrorBytes = 64 * 1024

/**
 * One attempt through a provider's SDK: the `fetch` that the SDK is given, and the clock over it.
 *
 * The SDKs wrap what their fetch throws, swallow aborts and count no silence; so the reason why an attempt ended is
 * kept here, and `failureOf` prefers it to what the SDK threw.
 */
export class UpstreamCall {
  readonly #agent: Dispatcher
  readonly #policy: CallPolicy
  readonly #outer: AbortSignal
  readonly #aborter = new AbortController()
  readonly #onAbort = (): void => void this.#end(cancelled())
  #timer: NodeJS.Timeout
  #failure: AttemptFailed | undefined
  #requested = false
  #answered = false
  #begun = false

  constructor(agent: Dispatcher, policy: CallPolicy, signal: AbortSignal) {
    this.#agent = agent
    this.#policy = policy
    this.#outer = signal
    this.#timer = setTimeout(() => this.#end(timedOut('answer')), policy.firstByteTimeoutMs)
    signal.addEventListener('abort', this.#onAbort)
    if (signal.aborted) this.#onAbort()
  }

  /** Aborts when the caller does, and when a limit is over. */
  get signal(): AbortSignal {
    return this.#aborter.signal
  }

  /** Whether the attempt is over for a reason of ours: nothing is handed on any more. */
  get ended(): boolean {
    return this.#failure !== undefined
  }

  /** A `fetch` for the SDK: one request, no redirects, error statuses thrown. */
  readonly fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    this.#requested = true
    const answer = await this.#request(url instanceof Request ? url.url : url, init)
    this.#answered = true
    // Whoever reads the body sees its errors; a body that is thrown away must not end the process with one.
    answer.body.on('error', () => {})
    if (answer.statusCode !== 200) throw this.#end(await this.#statusFailure(answer))
    const type = answer.headers['content-type']
    return new Response(this.#watched(answer), { headers: typeof type === 'string' ? { 'content-type': type } : {} })
  }

  /** Why the attempt failed. `thrown` is what came out of the SDK. */
  failureOf(thrown: unknown): AttemptFailed {
    if (this.#failure !== undefined) return this.#failure
    if (thrown instanceof AttemptFailed) return thrown
    if (!this.#requested) return refused(new ModelError('provider_error', 'The request does not fit the provider.'))
    return this.#answered ? streamBroken() : unreachable()
  }

  /** Fails the attempt by an error object that came inside the stream. */
  streamed(error: unknown): AttemptFailed {
    return this.#end(streamedFailure(error))
  }

  /** Ends the clock, and the connection if the answer is not read to its end. */
  close(): void {
    clearTimeout(this.#timer)
    this.#outer.removeEventListener('abort', this.#onAbort)
    this.#aborter.abort()
  }

  async #request(url: string | URL, init: RequestInit): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#agent.request({
        origin: new URL(url).origin,
        path: new URL(url).pathname + new URL(url).search,
        method: init.method === 'GET' ? 'GET' : 'POST',
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(typeof init.body === 'string' ? { body: init.body } : {}),
        signal: this.#aborter.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      })
    } catch {
      throw this.#end(unreachable())
    }
  }

  async #statusFailure(answer: Dispatcher.ResponseData): Promise<AttemptFailed> {
    const retryAfter = answer.headers['retry-after']
    const body = await readUpTo(answer.body, maxErrorBytes).catch(() => '')
    return statusFailure(answer.statusCode, body, typeof retryAfter === 'string' ? retryAfter : null, Date.now())
  }

  #watched(answer: Dispatcher.ResponseData): ReadableStream<Uint8Array> {
    const chunks = answer.body[Symbol.asyncIterator]()
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { done, value } = await chunks.next()
        if (done) return controller.close()
        this.#heard()
        controller.enqueue(value)
      },
      cancel: () => {
        answer.body.destroy()
      },
    })
  }

  /** Any byte counts, also a ping that the SDK does not show. */
  #heard(): void {
    if (this.#begun) {
      this.#timer.refresh()
      return
    }
    this.#begun = true
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(timedOut('continue')), this.#policy.idleTimeoutMs)
  }

  #end(failure: AttemptFailed): AttemptFailed {
    this.#failure ??= failure
    this.#aborter.abort()
    return this.#failure
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

/** Connections for an SDK. HTTP/1.1 only: there an abort closes the socket. Time limits are the call's own. */
export const openAgent = (policy: CallPolicy): Agent =>
  new Agent({ allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect: { timeout: policy.connectTimeoutMs } })
