import { type FetchLimits, type GuardedFetch, guardedFetch } from '#outgoing/guarded-fetch.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { watchedChallenges } from './challenges.ts'
import { failureOf, McpFailure } from './mcp-failure.ts'

/** Options of one unit of work with a server. */
export interface WireWork {
  readonly guard: Pick<SsrfGuard, 'request'>
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Ends the work, instead of `timeoutMs`, which then only limits the connection. */
  readonly limit?: AbortSignal
  /** Default: `mcpLimits`. */
  readonly limits?: FetchLimits
}

/** How a unit of work makes its requests. */
export interface Wire {
  readonly fetch: GuardedFetch
  /** Aborted when the work has to end. */
  readonly signal: AbortSignal
}

/** Limits of one unit of work: total size of the responses, and number of requests. */
export const mcpLimits: FetchLimits = {
  maxBytes: 8 * 1024 * 1024,
  maxDepth: 64,
  maxValues: 200_000,
  maxRequests: 500,
}

/**
 * Runs a unit of work with a server, within its limits. All requests are aborted when it ends.
 *
 * @throws {McpFailure}
 */
export const withWire = async <T>(work: WireWork, use: (wire: Wire) => Promise<T>): Promise<T> => {
  const limit = work.limit ?? AbortSignal.timeout(work.timeoutMs)
  const refusing = new AbortController()
  const closing = new AbortController()
  const signal = AbortSignal.any([limit, work.signal, refusing.signal])
  const guarded = guardedFetch(work.guard, work.limits ?? mcpLimits, {
    kind: 'mcp',
    outer: AbortSignal.any([signal, closing.signal]),
    refused: (error) => refusing.abort(error),
  })
  const watched = watchedChallenges(guarded)
  try {
    return await use({ fetch: watched.fetch, signal })
  } catch (error) {
    if (work.signal.aborted) throw new McpFailure('cancelled', 'The call was cancelled.', { cause: error })
    const { timeoutMs } = work
    throw failureOf(refusing.signal.aborted ? refusing.signal.reason : error, {
      timeoutMs,
      challenge: watched.newest(),
    })
  } finally {
    closing.abort()
  }
}

/** Rejects when `signal` aborts, without waiting for the work. */
export const raced = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  if (signal.aborted) return Promise.reject(signal.reason)
  const ended = Promise.withResolvers<never>()
  const end = (): void => ended.reject(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  work.catch(() => {})
  return Promise.race([work, ended.promise]).finally(() => signal.removeEventListener('abort', end))
}
