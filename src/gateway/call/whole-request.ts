import type { AnswerReservation } from '#outgoing/answer-memory.ts'
import { BoundedBytes } from '#outgoing/bounded-body.ts'
import { identityEncoding } from '#outgoing/identity-encoding.ts'
import type { WireBody } from '#outgoing/shares/encode-in-steps.ts'
import { viaOf } from '#outgoing/via.ts'
import { type AnswerHeaders, Attempt, type AttemptTimeouts } from './attempt.ts'
import { withRetries } from './call-policy.ts'
import type { CallRun } from './call-run.ts'
import type { Caller } from './caller.ts'
import type { Candidate } from './candidates.ts'
import { type AttemptFailed, cancelled, type ErrorAnswer, memoryFull, streamBroken } from './failure.ts'
import { policyFor } from './provider-timeouts.ts'
import type { Route } from './routes.ts'
import { reachable, type Upstreams } from './upstreams.ts'

/** Maximum size of an answer in bytes: 2,048 vectors of 3,072 numbers are 70 MB as JSON. */
const maxAnswerBytes = 96 * 1024 * 1024

/** Dependencies of {wholeRequest}. */
export interface RequestParts {
  readonly upstreams: Pick<Upstreams, 'of'>
  readonly patience: AttemptTimeouts
}

/** A request whose answer is read completely before it is used. */
export interface WholeRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: WireBody
  /** Start of its call, by `performance.now()`. */
  readonly sinceMs: number
  /** Timeout in ms for silence of the provider; undefined: that of its connection or the installation. */
  readonly timeoutMs: number | undefined
  readonly failureOf: (answer: ErrorAnswer) => AttemptFailed
  /** The memory reserved for the answer; the caller of `wholeRequest` releases it. */
  readonly reservation: AnswerReservation
  /** Cuts the connection as soon as it aborts. */
  readonly signal: AbortSignal
}

/** A complete answer. */
interface WholeAnswer {
  readonly body: Buffer
  readonly headers: AnswerHeaders
}

/**
 * Makes one attempt at a provider and returns its answer.
 *
 * @throws {AttemptFailed} `cancelled` as soon as the request's `signal` aborts.
 */
const wholeRequest = async (parts: RequestParts, route: Route, request: WholeRequest): Promise<WholeAnswer> =>
  sent(parts, route, { ...request, body: await request.body })

/**
 * Makes the attempts of a call at one provider, and reads the body of the first answer.
 *
 * @throws {AttemptFailed} the last failure, or what `read` throws.
 */
export const answeredWhole = <Answer>(
  parts: RequestParts,
  run: Pick<CallRun<Candidate>, 'policy' | 'record' | 'sends'>,
  { route, caller, read, ...request }: ReadRequest<Answer>,
): Promise<Answer> => {
  const headers = { ...request.headers, ...identityEncoding, via: viaOf(caller) }
  return withRetries(run.policy, request.signal, async () => {
    await run.sends()
    run.record.attempts++
    const times = { timeoutMs: caller.timeoutMs, sinceMs: run.record.startedMs }
    const { body, headers: received } = await wholeRequest(parts, route, { ...request, headers, ...times })
    run.record.begun()
    return read(body, received)
  })
}

/** A request of a call, and how its answer is read. */
interface ReadRequest<Answer> extends Omit<WholeRequest, 'sinceMs' | 'timeoutMs'> {
  readonly route: Route
  readonly caller: Caller
  readonly read: (body: Buffer, headers: AnswerHeaders) => Promise<Answer>
}

const sent = (
  { upstreams, patience }: RequestParts,
  route: Route,
  {
    path,
    headers,
    body,
    failureOf,
    timeoutMs,
    sinceMs,
    signal,
    reservation,
  }: Omit<WholeRequest, 'body'> & { body: string | Uint8Array },
): Promise<WholeAnswer> =>
  new Promise((resolve, reject) => {
    const { dispatcher, posting, isAuthorized, origin, basePath } = reachable(upstreams, route)
    const answer = new BoundedBytes(maxAnswerBytes)
    let received: AnswerHeaders = {}
    const gone = (): void => {
      attempt.cancel()
      reject(cancelled())
    }
    const settled = (settle: () => void): void => {
      signal.removeEventListener('abort', gone)
      settle()
    }
    const attempt = new Attempt(
      {
        head: (headers) => {
          received = headers
        },
        bytes: (part) => {
          if (!answer.push(part)) throw streamBroken()
          if (!reservation.grow(part.length)) throw memoryFull()
        },
        over: () => settled(() => resolve({ body: answer.bytes, headers: received })),
        failed: (failure) => settled(() => reject(failure)),
        failureOf,
      },
      policyFor(patience, route.waits, timeoutMs),
      sinceMs,
    )
    if (signal.aborted) return gone()
    signal.addEventListener('abort', gone)
    if (isAuthorized) return posting.dispatch({ path: basePath + path, headers, body }, attempt)
    dispatcher.dispatch(
      { origin, path: basePath + path, method: 'POST', headers, body, headersTimeout: 0, bodyTimeout: 0 },
      attempt,
    )
  })
