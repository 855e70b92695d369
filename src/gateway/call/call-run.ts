import { tokensOfUsage, type Usage } from '#gateway/prices/usage.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type CallEnd, type CallHead, CallRecord, type RecordParts } from './accounting/call-record.ts'
import type { Admission, KeyGrant, KeyPermit, Ticket, TokenNeed } from './admission.ts'
import { type CallPolicy, waitBefore } from './call-policy.ts'
import { isRequest } from './caller.ts'
import type { Candidate, CandidateQueue } from './candidates.ts'
import { AttemptFailed, keyAtLimit } from './failure.ts'
import { keysUsedUp } from './pools/key-limits.ts'
import type { Lease, RouteHealth } from './pools/route-health.ts'
import { reuseHeaders } from './reuse.ts'
import { refusedBy, servedHeaders } from './served-headers.ts'

/**
 * Retries of the gateway and of a client SDK multiply: for a caller that retries itself, a rate limit is retried only
 * once here.
 */
const policyFor = (policy: CallPolicy, caller: CallHead['caller']): CallPolicy =>
  isRequest(caller) && caller.retriesItself === true ? { ...policy, rateLimitRetries: 1 } : policy

/** Services that every call uses. */
export interface CallRunParts extends RecordParts {
  readonly admission: Admission
  readonly policy: CallPolicy
  /** null when routes are not ordered by their failures. */
  readonly health: Pick<RouteHealth, 'begin' | 'failed' | 'worked'> | null
}

/** Where a call continues after a failure that another attempt on the same route would repeat. */
export type Onward = 'other_way' | 'other_model' | 'nowhere'

/** The parts of a call that differ between kinds of calls (chat, embeddings, …); {CallRun} does the rest. */
export interface CallKind<W extends Candidate> extends CallHead {
  /**
   * Returns the maximum cost in USD on this route, as decimal text; null when it is unknown. Called only under a
   * budget.
   */
  maxUsd(candidate: W): string | null
  /**
   * Returns the cost of the shortest answer on this route; absent for kinds that cannot be made cheaper, null for such
   * a call.
   */
  minUsd?(candidate: W): string | null
  /** Returns the tokens that the call may use on this route; absent for kinds without tokens. */
  tokens?(candidate: W): TokenNeed
  /** Returns the number of requests that an attempt on this route sends; absent: one. */
  requests?(candidate: W): number
  /**
   * Limits the call to what its ticket permits, or removes the limit.
   * @returns the number of output tokens that the answer is limited to; null for no limit.
   */
  limit?(candidate: W, ticket: Pick<Ticket, 'limitedToUsd' | 'limitedToTokens'>): number | null
  /**
   * Whether the permission for `before` is also valid for `way`; otherwise a new one is requested, since another key
   * may pay.
   */
  sharesTicket(before: W, candidate: W): boolean
  /**
   * Sends one request. Later calls `failed`, `fail` or `succeed` of the run, once.
   * @throws {AttemptFailed} with the same effect as calling `failed`; any other error ends the call.
   */
  attempt(candidate: W): void
  /** Returns where to continue after a failure. */
  onward(failure: AttemptFailed, candidate: W): Onward
  /** Converts a failure to the error that the API returns. */
  refusalOf(failure: unknown): Error
  /** Delivers an error to the caller that waits for the answer. */
  refuse(error: Error): void
  /** Returns the result of the call. @param error null on success. */
  end(error: Error | null): CallEnd
}

/** The usage of a call that no provider was paid for. */
const nothingUsed: Usage = { tokens: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 } }

type Headers = readonly (readonly [name: string, value: string])[]

/**
 * The course of one model call, of any kind: find a route, get permission, make attempts until an answer begins, then
 * record the cost. Where a value is available synchronously, no promise is awaited. A run ends once: by `succeed`,
 * `fail` or `close`.
 */
export class CallRun<W extends Candidate> {
  readonly record: CallRecord
  readonly #parts: CallRunParts
  readonly #kind: CallKind<W>
  #candidates: CandidateQueue<W> | null = null
  #candidate: W | null = null
  #ticket: Ticket | null = null
  #ticketWay: W | null = null
  #settled: Ticket | null = null
  #limitedTo: number | null = null
  #failedHere = 0
  #lastFailure: AttemptFailed | null = null
  #timer: NodeJS.Timeout | null = null
  #lease: Lease | null = null
  /** Permission of the key of the current route; null for one without limits. */
  #key: KeyPermit | null = null
  /** Attempts before the key was taken: later ones have used it. */
  #sentBefore = 0
  /** Requests that the key has permitted for this attempt. */
  #permitted = 0
  /** Those that are not sent, where its kind counts them. */
  #unsent = 0
  /** Seconds after which the first of the keys that were passed over may be used again; null: none was. */
  #freeInS: number | null = null
  /** A failure that was not retried, since other keys of the pool were left. */
  #spared: { readonly candidate: W; readonly failure: AttemptFailed } | null = null
  /** Why the call has left the route before this one; null: it is the first one. */
  #left: string | null = null
  #hasBegun = false
  #isOver = false

  constructor(parts: CallRunParts, kind: CallKind<W>) {
    this.#parts = parts
    this.#kind = kind
    this.record = new CallRecord(parts, kind)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Limits for the current route; fewer retries while another route is left to try, none beside another key of a pool. */
  get policy(): CallPolicy {
    const policy = policyFor(this.#parts.policy, this.#kind.caller)
    if (this.#candidates?.hasMore !== true) return policy
    const retries = this.#candidates.hasPeer ? 0 : Math.min(policy.retries, policy.retriesBesideOthers)
    return { ...policy, retries }
  }

  /** Tries the routes in order. */
  start(candidates: CandidateQueue<W>): void {
    this.#candidates = candidates
    this.#next()
  }

  /** Marks the answer as begun: after this, nothing is retried. */
  begin(): void {
    if (!this.#hasBegun) this.#lease?.answered()
    this.#hasBegun = true
  }

  /** Headers for the answer: which provider served it (`servedHeaders`), and the remaining limits. */
  headers(): Headers {
    const served = servedHeaders(this.record.route)
    const { headers = [] } = this.#ticket ?? {}
    const limited = this.#limitedTo === null ? [] : [['x-max-tokens-limited', String(this.#limitedTo)] as const]
    const choice = this.#candidates?.choice ?? null
    const reused = reuseHeaders(this.record.reuse)
    if (headers.length + limited.length + reused.length === 0 && choice === null) return served
    const routed = choice === null || this.#isHit ? [] : [['x-route', this.#routed(choice)] as const]
    return [...served, ...routed, ...reused, ...headers, ...limited]
  }

  /** Reports a failed attempt: it is retried, another route is tried, or the call fails. */
  failed(failure: AttemptFailed): void {
    const candidate = this.#candidate
    if (this.#isOver || candidate === null) return
    this.#lease?.release()
    this.#parts.health?.failed(candidate.route, failure.error)
    this.record.failed(candidate.route, failure.error)
    if (this.#hasBegun) {
      this.fail(failure)
      return
    }
    this.#lastFailure = failure
    this.#left = failure.error.code
    const waitMs = waitBefore(this.#failedHere++, failure, this.policy)
    if (waitMs !== undefined) {
      this.#timer = setTimeout(() => this.#withKey(candidate, () => this.#attempt(candidate)), waitMs)
      return
    }
    if (this.#candidates?.hasPeer === true) this.#spared = { candidate, failure }
    this.#elsewhere(failure, candidate)
  }

  /** Ends the call with a failure and delivers the error to the caller. */
  fail(failure: unknown): void {
    if (this.#isOver) return
    const error = refusedBy(this.record.route, this.#kind.refusalOf(failure))
    this.#kind.refuse(error)
    this.close(error)
  }

  /** Ends the call successfully: the answer is complete. */
  succeed(): void {
    if (this.#candidate !== null && !this.#isHit) this.#parts.health?.worked(this.#candidate.route)
    this.close(null)
  }

  /** Ends and records the call without notifying its caller. */
  close(error: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#lease?.release()
    const made = this.#kind.end(error)
    const end = this.#isHit ? { ...made, usage: made.usage === null ? null : nothingUsed, costUsd: '0' } : made
    const tokens = tokensOfUsage(end.usage)
    this.#settle(end.usage === null ? '0' : end.costUsd, tokens)
    this.#leaveKey(tokens)
    this.record.write(error, end)
  }

  /**
   * Counts a request of an attempt that sends several; one beyond those that are permitted, such as a retry, is taken now.
   * @throws {AttemptFailed} when the key is at its limits.
   */
  async sends(): Promise<void> {
    const { route } = this.record
    if (this.#unsent-- > 0 || this.#key === null || route === null) return
    const grant = await this.#parts.admission.admitKey?.({ route, requests: 1 })
    if (grant !== undefined && 'waitS' in grant) throw keyAtLimit(grant.waitS)
  }

  /**
   * Resolves when the settled cost is durable; undefined when there is nothing to wait for.
   * @throws {StoreUnavailable}
   */
  counted(): Promise<void> | undefined {
    return this.#settled?.counted?.()
  }

  /**
   * Passes the value of `get` to `go`, synchronously unless it is a promise; an error fails the call.
   * @param tooLate receives a value that arrives after the call has ended.
   */
  after<T>(get: () => T | Promise<T>, go: (value: T) => void, tooLate: (value: T) => void = () => {}): void {
    try {
      const value = get()
      if (value instanceof Promise) {
        value.then((late) => (this.#isOver ? tooLate(late) : go(late))).catch((error: unknown) => this.fail(error))
      } else go(value)
    } catch (error) {
      this.fail(error)
    }
  }

  /** Whether a stored answer is given, so that no provider is called and nothing is paid. */
  get #isHit(): boolean {
    return this.record.reuse?.status === 'hit'
  }

  #routed(choice: string): string {
    return this.#left === null ? choice : `${choice};after=${this.#left}`
  }

  #elsewhere(failure: AttemptFailed, candidate: W): void {
    const onward = this.#kind.onward(failure, candidate)
    if (onward === 'other_model') this.#candidates?.skipModel()
    if (onward === 'nowhere') this.fail(failure)
    else this.#next()
  }

  #next(): void {
    this.after(
      () => this.#candidates?.next() ?? null,
      (candidate) => {
        if (candidate === null) this.#exhausted()
        else this.#try(candidate)
      },
    )
  }

  #try(candidate: W): void {
    this.#candidate = candidate
    this.#failedHere = 0
    this.#withKey(candidate, () => this.#admit(candidate))
  }

  /** No route is left. One that failed is tried again when those for which it was left are at their limits. */
  #exhausted(): void {
    const spared = this.#freeInS === null ? null : this.#spared
    this.#spared = null
    const waitMs = spared === null ? undefined : waitBefore(0, spared.failure, this.policy)
    if (spared === null || waitMs === undefined) this.fail(this.#lastFailure ?? this.#noRoute())
    else this.#timer = setTimeout(() => this.#try(spared.candidate), waitMs)
  }

  #noRoute(): ServiceError {
    if (this.#freeInS === null) return new ServiceError('model_not_found', { param: 'model' })
    return keysUsedUp(this.#freeInS)
  }

  /** Continues once the key of the route permits the requests of an attempt; a key at its limits is passed over. */
  #withKey(candidate: W, go: () => void): void {
    this.#leaveKey(0)
    const { admitKey } = this.#parts.admission
    const { route } = candidate
    if (route.keyLimits === undefined || admitKey === undefined || this.#isHit) {
      go()
      return
    }
    const requests = this.#kind.requests?.(candidate) ?? 1
    this.after<KeyGrant>(
      () => admitKey({ route, requests, tokens: () => this.#kind.tokens?.(candidate) ?? { max: 0 } }),
      (grant) => {
        if ('waitS' in grant) return this.#passOver(grant.waitS)
        this.#key = grant
        this.#permitted = requests
        this.#unsent = requests
        go()
      },
      (late) => {
        if (!('waitS' in late)) late.giveBack()
      },
    )
  }

  #passOver(waitS: number): void {
    this.#freeInS = Math.min(this.#freeInS ?? waitS, waitS)
    this.#left = 'key_limit'
    this.#next()
  }

  /** @param tokens that were used with the key. */
  #leaveKey(tokens: number): void {
    const { attempts } = this.record
    const sent = attempts - this.#sentBefore
    if (sent > 0) this.#key?.settle(tokens, Math.max(0, this.#permitted - sent))
    else this.#key?.giveBack()
    this.#key = null
    this.#sentBefore = attempts
    this.#unsent = 0
  }

  #admit(candidate: W): void {
    this.record.route = candidate.route
    const before = this.#ticketWay
    if (before === candidate || (before !== null && this.#kind.sharesTicket(before, candidate))) {
      this.#attempt(candidate)
      return
    }
    this.#settle('0', 0)
    const { caller, need } = this.#kind
    const { source } = candidate.route
    const request = {
      caller,
      need,
      model: candidate.model,
      source,
      maxUsd: () => (this.#isHit ? '0' : this.#kind.maxUsd(candidate)),
      minUsd: () => (this.#isHit ? null : (this.#kind.minUsd?.(candidate) ?? null)),
      tokens: () => (this.#isHit ? undefined : this.#kind.tokens?.(candidate)) ?? { max: 0 },
    }
    this.after(
      () => this.#parts.admission.admit(request),
      (ticket) => {
        this.#ticket = ticket
        this.#ticketWay = candidate
        this.#attempt(candidate)
      },
      (late) => late.settle('0', 0),
    )
  }

  #attempt(candidate: W): void {
    if (this.#isOver) return
    this.#lease = this.#isHit ? null : (this.#parts.health?.begin(candidate.route) ?? null)
    try {
      this.#limitedTo = this.#isHit ? null : (this.#kind.limit?.(candidate, this.#granted) ?? null)
      this.record.within(() => this.#kind.attempt(candidate))
    } catch (error) {
      if (error instanceof AttemptFailed) this.failed(error)
      else this.fail(error)
    }
  }

  /** What the ticket and the key permit. */
  get #granted(): Pick<Ticket, 'limitedToUsd' | 'limitedToTokens'> {
    const granted: Pick<Ticket, 'limitedToUsd' | 'limitedToTokens'> = this.#ticket ?? {}
    const { limitedToTokens } = this.#key ?? {}
    if (limitedToTokens === undefined) return granted
    return { ...granted, limitedToTokens: Math.min(limitedToTokens, granted.limitedToTokens ?? limitedToTokens) }
  }

  #settle(usd: string | null, tokens: number): void {
    this.#ticket?.settle(usd, tokens)
    this.#settled = this.#ticket ?? this.#settled
    this.#ticket = null
    this.#ticketWay = null
  }
}
