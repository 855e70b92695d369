import { AttemptFailed, cancelled } from './failure.ts'

/** Limits of one model call; all but the numbers of retries are in milliseconds. */
export interface CallPolicy {
  readonly connectTimeoutMs: number
  /** From the start of the request to the first byte of the answer's body. */
  readonly firstByteTimeoutMs: number
  /** Longest silence within an answer. */
  readonly idleTimeoutMs: number
  /** From the start of the call to the last byte of its answer, including all retries. */
  readonly totalTimeoutMs: number
  /** Attempts after the first one; made only before the first byte of an answer. */
  readonly retries: number
  /** The same while another route is left to try: less time is spent on one that does not answer. */
  readonly retriesBesideOthers: number
  /** The same for rate limits of the provider; absent: the same number as for other failures. */
  readonly rateLimitRetries?: number
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** A longer `Retry-After` is not waited for: the call fails and returns the waiting time. */
  readonly maxRetryAfterMs: number
}

/** The limits that an operator can configure. */
export type ModelTimeouts = Pick<CallPolicy, 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'totalTimeoutMs'>

/** Limits that apply when nothing is configured. */
export const defaultCallPolicy: CallPolicy = {
  connectTimeoutMs: 10_000,
  firstByteTimeoutMs: 600_000,
  idleTimeoutMs: 120_000,
  totalTimeoutMs: 3_600_000,
  retries: 2,
  retriesBesideOthers: 1,
  backoffMs: 300,
  maxBackoffMs: 4_000,
  maxRetryAfterMs: 10_000,
}

/**
 * Runs `attempt` until it succeeds, fails with an error that is not retryable, or the retries are used up.
 *
 * @throws {ModelError} of the last attempt; {AttemptFailed} where the policy allows no retries, since its call may try the
 * route again later; `cancelled` as soon as `signal` aborts, also between attempts.
 */
export async function withRetries<T>(policy: CallPolicy, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let failed = 0; ; failed++) {
    try {
      return await attempt()
    } catch (caught) {
      if (!(caught instanceof AttemptFailed)) throw caught
      const waitMs = waitBefore(failed, caught, policy)
      if (waitMs === undefined) throw policy.retries === 0 ? caught : caught.error
      await pause(waitMs, signal)
    }
  }
}

/**
 * Returns the milliseconds until the next attempt; undefined when there is none. Up to half of the back-off is random.
 */
export function waitBefore(failed: number, failure: AttemptFailed, policy: CallPolicy): number | undefined {
  if (!failure.retryable || failed >= retriesOf(failure, policy)) return undefined
  const retryAfterMs = failure.error.retryAfterMs
  if (retryAfterMs !== undefined) return retryAfterMs <= policy.maxRetryAfterMs ? retryAfterMs : undefined
  const backoffMs = Math.min(policy.maxBackoffMs, policy.backoffMs * 2 ** failed)
  return backoffMs * (0.5 + Math.random() / 2)
}

const retriesOf = ({ error }: AttemptFailed, { retries, rateLimitRetries = retries }: CallPolicy): number =>
  error.code === 'provider_rate_limited' ? Math.min(retries, rateLimitRetries) : retries

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(cancelled().error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
