import type { Random } from '#test/simulation/world/random.ts'

/** One request, which any node can serve. */
export interface Wanted {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  /** Its Idempotency-Key: the same for every attempt. */
  readonly key?: string
  readonly lastEventId?: string
}

/** Reason for a retry: the service requested it, was silent for 4 s, or the connection broke. */
type RetryReason = 'unavailable' | 'silent' | 'broken'

/** Number of requests, and of retries by reason. */
export interface Counts extends Record<RetryReason, number> {
  requests: number
}

/** Settings shared by all clients of a run. */
export interface ClientParts {
  readonly urls: () => readonly string[]
  readonly secretKey: string
  /** Counts, for the report. */
  readonly counts: Counts
  /** Returns the time at which to give up, by performance.now(). */
  readonly deadline: () => number
}

/** The service refused a request that it should have accepted. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, what: string) {
    super(`${what} answered ${status} ${code}`)
    this.status = status
    this.code = code
  }
}

/** A request was still unanswered long after the cluster had recovered. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/** Silence of an answer in ms after which another node is tried. */
const silenceMs = 4000
/** Pause before the next attempt, in ms. */
const pauseMs = 100

/** Reads an answer; it calls `alive` whenever data arrives. */
export type Read<T> = (response: Response, alive: () => void) => Promise<T>

/** Result of one attempt; null: it may be retried. */
export type Attempt<T> = { readonly value: T } | null

/**
 * Sends requests like a well-behaved client: to another node when one does not answer, with the same key for every
 * attempt.
 */
export class NodeClient {
  readonly #parts: ClientParts
  readonly #random: Random
  #last = ''

  constructor(parts: ClientParts, random: Random) {
    this.#parts = parts
    this.#random = random
  }

  /** Sends a request until it is answered, and reads its JSON. @throws {Refused}, {GivenUp}. */
  async json<T>(wanted: Wanted, shape: (body: Record<string, unknown>) => T): Promise<T> {
    for (;;) {
      const attempt = await this.attempt(wanted, async (response) => shape(Object(await response.json())))
      if (attempt !== null) return attempt.value
    }
  }

  /**
   * Makes one attempt at a different node than last time. Returns null, after a pause, when it did not get through.
   * @throws {Refused} for any refusal except "try again"; {GivenUp}.
   */
  async attempt<T>(wanted: Wanted, read: Read<T>): Promise<Attempt<T>> {
    if (performance.now() > this.#parts.deadline())
      throw new GivenUp(`${wanted.method} ${wanted.path} was never answered`)
    this.#parts.counts.requests++
    const attempt = await this.#try(wanted, read)
    if (attempt !== null) return attempt
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    return null
  }

  async #try<T>(wanted: Wanted, read: Read<T>): Promise<Attempt<T>> {
    const abort = new AbortController()
    let timer = setTimeout(() => abort.abort(), silenceMs)
    const alive = () => {
      clearTimeout(timer)
      timer = setTimeout(() => abort.abort(), silenceMs)
    }
    try {
      const response = await this.#send(wanted, abort.signal)
      alive()
      if (response.ok) return { value: await read(response, alive) }
      await tryAgain(response, wanted)
      this.#parts.counts.unavailable++
      return null
    } catch (error) {
      if (error instanceof Refused) throw error
      this.#parts.counts[abort.signal.aborted ? 'silent' : 'broken']++
      return null
    } finally {
      clearTimeout(timer)
      abort.abort()
    }
  }

  #send({ method, path, body, key, lastEventId }: Wanted, signal: AbortSignal): Promise<Response> {
    return fetch(`${this.#nextNode()}${path}`, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${this.#parts.secretKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  #nextNode(): string {
    const urls = this.#parts.urls()
    // if no other node is up, uses the same one again
    const others = urls.filter((url) => url !== this.#last)
    this.#last = this.#random.pick(others.length > 0 ? others : urls) ?? this.#last
    return this.#last
  }
}

/** Returns if the client may retry after this refusal. @throws {Refused} if not. */
const tryAgain = async (response: Response, { method, path }: Wanted): Promise<void> => {
  const text = await response.text()
  const code = codeIn(text)
  if (response.status === 503 || code === 'idempotency_in_progress') return
  throw new Refused(response.status, code, `${method} ${path}`)
}

const codeIn = (text: string): string => {
  try {
    return String(Object(Object(JSON.parse(text)).error).code)
  } catch {
    return text.slice(0, 200)
  }
}
