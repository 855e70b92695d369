import { ServiceError } from '#specs/errors/errors.ts'
import { type CallEnd, type CallHead, CallRecord, type RecordParts } from './accounting/call-record.ts'
import type { Admission, Ticket } from './admission.ts'
import type { Breaker } from './breaker.ts'
import { type CallPolicy, waitBefore } from './call-policy.ts'
import { isRequest } from './caller.ts'
import { AttemptFailed } from './failure.ts'
import { refusedBy, servedHeaders } from './served-headers.ts'
import type { Way, Ways } from './ways.ts'

/** Retries of the gateway and of an SDK multiply: a rate limit is met by one here, where the caller has its own. */
const policyFor = (policy: CallPolicy, caller: CallHead['caller']): CallPolicy =>
  isRequest(caller) && caller.retriesItself === true ? { ...policy, rateLimitRetries: 1 } : policy

/** What every call goes by. */
export interface CallRunParts extends RecordParts {
  readonly admission: Admission
  readonly policy: CallPolicy
  /** null: ways are ordered by something else than their failures. */
  readonly breaker: Pick<Breaker, 'failed' | 'worked'> | null
}

/** What follows a failure that another attempt on the same way would meet again. */
export type Onward = 'other_way' | 'other_model' | 'nowhere'

/** What one kind of call adds to the road that all calls take. */
export interface CallKind<W extends Way> extends CallHead {
  /** USD that the call costs at most by this way, as decimal text; null when it is unknown. Called only under a budget. */
  mostUsd(way: W): string | null
  /** What its shortest answer costs by this way; absent for kinds that cannot be made cheaper, null for such a call. */
  leastUsd?(way: W): string | null
  /** The call may cost so much, which is less than the most; null: the most. @returns the tokens that its answer is limited to. */
  limit?(way: W, usd: string | null): number | null
  /** Whether permission for `before` holds for `way`, too: else a new one is requested, since another key may pay. */
  sharesTicket(before: W, way: W): boolean
  /**
   * Sends one request. Calls `failed`, `fail` or `succeed` of the run later, once.
   * @throws {AttemptFailed} as if `failed` had been called; everything else ends the call.
   */
  attempt(way: W): void
  /** Where to go on after a failure. */
  onward(failure: AttemptFailed, way: W): Onward
  /** A failure in the words of the API. */
  refusalOf(failure: unknown): Error
  /** Delivers a failure to the caller that waits for the answer. */
  refuse(error: Error): void
  /** What the call has come to. @param error null when it went well. */
  end(error: Error | null): CallEnd
}

type Headers = readonly (readonly [name: string, value: string])[]

/**
 * The road of one call to a model, whatever it is for: who can serve it, permission, attempts until the answer begins,
 * then what it cost. Nothing waits for a promise where an answer is at hand. It ends once: by `succeed`, `fail` or `close`.
 */
export class CallRun<W extends Way> {
  readonly record: CallRecord
  readonly #parts: CallRunParts
  readonly #kind: CallKind<W>
  #ways: Ways<W> | null = null
  #way: W | null = null
  #ticket: Ticket | null = null
  #ticketWay: W | null = null
  #settled: Ticket | null = null
  #limitedTo: number | null = null
  #failedHere = 0
  #lastFailure: AttemptFailed | null = null
  #timer: NodeJS.Timeout | null = null
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

  /** How often the current way may be tried again, and how soon. */
  get policy(): CallPolicy {
    const policy = policyFor(this.#parts.policy, this.#kind.caller)
    if (this.#ways?.hasMore !== true) return policy
    return { ...policy, retries: Math.min(policy.retries, policy.retriesBesideOthers) }
  }

  /** Tries the ways in their order. */
  start(ways: Ways<W>): void {
    this.#ways = ways
    this.#next()
  }

  /** The answer has begun: from here on nothing is tried again. */
  begin(): void {
    this.#hasBegun = true
  }

  /** Who served it (`servedHeaders`), and what is left of limits. */
  headers(): Headers {
    const served = servedHeaders(this.record.route)
    const { headers = [] } = this.#ticket ?? {}
    const limited = this.#limitedTo === null ? [] : [['x-max-tokens-limited', String(this.#limitedTo)] as const]
    return headers.length + limited.length === 0 ? served : [...served, ...headers, ...limited]
  }

  /** One attempt has failed. */
  failed(failure: AttemptFailed): void {
    const way = this.#way
    if (this.#isOver || way === null) return
    this.#parts.breaker?.failed(way.route, failure.error.code)
    this.record.failed(way.route, failure.error)
    if (this.#hasBegun) {
      this.fail(failure)
      return
    }
    this.#lastFailure = failure
    const waitMs = waitBefore(this.#failedHere++, failure, this.policy)
    if (waitMs === undefined) this.#elsewhere(failure, way)
    else this.#timer = setTimeout(() => this.#attempt(way), waitMs)
  }

  /** The call has failed for good. */
  fail(failure: unknown): void {
    if (this.#isOver) return
    const error = refusedBy(this.record.route, this.#kind.refusalOf(failure))
    this.#kind.refuse(error)
    this.close(error)
  }

  /** The answer is whole. */
  succeed(): void {
    if (this.#way !== null) this.#parts.breaker?.worked(this.#way.route)
    this.close(null)
  }

  /** Ends the call, and records it, without a word to its caller. */
  close(error: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const end = this.#kind.end(error)
    this.#settle(end.usage === null ? '0' : end.costUsd)
    this.record.write(error, end)
  }

  /** Resolves when what was settled is durable; undefined: there is nothing to wait for. @throws {StoreUnavailable} */
  counted(): Promise<void> | undefined {
    return this.#settled?.counted?.()
  }

  /** Goes on at once where nothing has to be waited for. @param tooLate what to do with what comes when the call is over. */
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

  #elsewhere(failure: AttemptFailed, way: W): void {
    const onward = this.#kind.onward(failure, way)
    if (onward === 'other_model') this.#ways?.skipModel()
    if (onward === 'nowhere') this.fail(failure)
    else this.#next()
  }

  #next(): void {
    this.after(
      () => this.#ways?.next() ?? null,
      (way) => {
        if (way === null) {
          this.fail(this.#lastFailure ?? new ServiceError('model_not_found', { param: 'model' }))
          return
        }
        this.#way = way
        this.#failedHere = 0
        this.record.route = way.route
        this.#admit(way)
      },
    )
  }

  #admit(way: W): void {
    if (this.#ticketWay !== null && this.#kind.sharesTicket(this.#ticketWay, way)) {
      this.#attempt(way)
      return
    }
    this.#settle('0')
    const { caller, need } = this.#kind
    const { source } = way.route
    const most = { mostUsd: () => this.#kind.mostUsd(way), leastUsd: () => this.#kind.leastUsd?.(way) ?? null }
    this.after(
      () => this.#parts.admission.admit({ caller, need, model: way.model, source, ...most }),
      (ticket) => {
        this.#ticket = ticket
        this.#ticketWay = way
        this.#limitedTo = this.#kind.limit?.(way, ticket.limitedToUsd ?? null) ?? null
        this.#attempt(way)
      },
      (late) => late.settle('0'),
    )
  }

  #attempt(way: W): void {
    if (this.#isOver) return
    try {
      this.record.within(() => this.#kind.attempt(way))
    } catch (error) {
      if (error instanceof AttemptFailed) this.failed(error)
      else this.fail(error)
    }
  }

  #settle(usd: string | null): void {
    this.#ticket?.settle(usd)
    this.#settled = this.#ticket ?? this.#settled
    this.#ticket = null
    this.#ticketWay = null
  }
}
