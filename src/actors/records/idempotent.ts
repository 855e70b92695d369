import type { Logger } from 'pino'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { type ErrorCode, errors, ServiceError } from '#specs/errors/errors.ts'
import type { RecordStore, Scope, StoredRecord } from '#storage/index.ts'
import type { Idempotency } from '../call/call.ts'
import { type Clock, newId, pause } from '../runtime/index.ts'
import type { Processes } from '../runtime/internal.ts'
import type { Row, TypedKind } from './schema.ts'
import type { SecretBox } from './secret-box.ts'
import { Table } from './table.ts'

type IdempotencyData = {
  readonly operation: string
  readonly fingerprint: string
  /** The end of the id of a resource that the request creates; the same in every attempt. */
  readonly seed: string
  /** When the attempt was started or last renewed, in ms since the epoch; 0 when aborted and free for a retry. */
  readonly claimed_at: number
  /** The process that runs the attempt; absent in rows of earlier releases. */
  readonly claimed_by?: string
  /** JSON of a `Kept` once there is an answer, sealed when the operation reveals a secret. */
  readonly answer: string | null
  /** Tenant named by the request or its answer, and user as `<tenant>/<external id>`: they own the row for erasure. */
  readonly about_tenant: string | null
  readonly about_user: string | null
}

type Kept = { readonly result: unknown } | { readonly error: KeptError }

type KeptError = { readonly code: ErrorCode; readonly param: string | null; readonly message: string }

/** Requests by Idempotency-Key, kept for 24 hours. */
export const idempotencyKeys: TypedKind<IdempotencyData> = {
  name: 'idempotency_keys',
  filters: ['about_tenant', 'about_user'],
  exported: null,
  sealed: [
    {
      field: 'answer',
      isSealed: (answer) => isSealedAnswer(answer),
      aad: (record) => answerAad(record),
      instead: null,
      sentTo: null,
      loss: 'a kept answer that shows a secret: its Idempotency-Key is free again',
    },
  ],
}

const keptMs = 24 * 60 * 60 * 1000

/** Age in ms from which an unrenewed attempt counts as aborted, even if its process is alive: a retry takes over. */
const abandonedMs = 30_000

/** Maximum clock skew in a cluster, in ms. An attempt dated further ahead shows that the clock was set back. */
const aheadMs = 5 * 60_000

/** How long a second request waits for the first one's answer, and its polling interval, in ms. */
const waitMs = 5_000
const pollMs = 50

/** Interval at which a running attempt renews its row, in ms. */
const renewEveryMs = 10_000

/** A streamed answer: `now` is returned at once, and `kept` is stored for replays when the stream has ended. */
export class KeptLater {
  readonly now: unknown
  readonly kept: Promise<unknown>

  /** @param kept may reject with a {ServiceError}, which is then stored instead. */
  constructor(now: unknown, kept: Promise<unknown>) {
    this.now = now
    this.kept = kept
  }
}

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  readonly operation: string
  readonly scope: Scope
  readonly idempotency: Idempotency
  /** The answer reveals a secret: it is not stored, and so cannot be replayed. */
  readonly secret: boolean
  /** The tenant and user that the request names. */
  readonly about?: About
}

/** The tenant, and the user of it, that a request is about. */
export interface About {
  readonly tenant: string | null
  readonly user: string | null
}

/** The first answer or refusal, given now or replayed. */
export type KeyedOutcome =
  | { readonly replayed: boolean; readonly result: unknown }
  | { readonly replayed: true; readonly error: ServiceError }

export interface IdempotentDeps {
  readonly records: RecordStore
  readonly box: SecretBox
  readonly clock: Clock
  readonly log: Logger
  /**
   * Identifies this process and detects ended ones, whose attempts are taken over at once; when absent, only the
   * age of an attempt counts.
   */
  readonly processes?: Pick<Processes, 'self' | 'isGone'>
}

/**
 * Runs a request with an Idempotency-Key once and repeats its answer for 24 hours, except for answers that reveal a
 * secret.
 *
 * A key is claimed by one unique insert, which also fixes the id of what the request creates (`seed`): an attempt that
 * a crash interrupted is run again under the same id, so it finds what it created instead of creating it twice.
 * Refusals are stored like answers; server-side failures (5xx, rate limits) are not, and the key is free for a retry.
 */
export class IdempotentRequests {
  readonly #table: Table<IdempotencyData>
  readonly #deps: IdempotentDeps
  /** Attempts of this process, by claim. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(deps: IdempotentDeps) {
    this.#deps = deps
    this.#table = new Table(deps.records, idempotencyKeys, deps.clock.now)
  }

  /**
   * Runs the request, or returns the stored outcome of an earlier attempt.
   *
   * @param work gets the idempotency with its `seed`.
   * @throws {ServiceError} `idempotency_key_reused`, `idempotency_in_progress`, `idempotency_secret_shown`, and what
   *   `work` throws in this attempt.
   */
  async run(request: KeyedRequest, work: (idempotency: Idempotency) => Promise<unknown>): Promise<KeyedOutcome> {
    const deadline = this.#deps.clock.steady() + waitMs
    const id = claimId(request)
    let row: Row<IdempotencyData> | null = null
    do {
      const claim: Row<IdempotencyData> | null = await this.#claim(request, id, row)
      if (claim !== null) return this.#attempt(request, claim, work)
      row = await this.#table.get(request.scope, id)
      if (row !== null && row.data.fingerprint !== request.idempotency.fingerprint) {
        throw new ServiceError('idempotency_key_reused', { param: 'Idempotency-Key' })
      }
      if (row !== null && row.data.answer !== null) return this.#replay(request, row.data.answer)
      if (row === null || !this.#isAbandoned(row)) await this.#settled(id)
    } while (this.#deps.clock.steady() < deadline)
    throw new ServiceError('idempotency_in_progress', { param: 'Idempotency-Key', retryAfterS: 1 })
  }

  /**
   * Returns the row when this request may run: that of a new key, or of one whose attempt was aborted.
   *
   * @param known the unanswered row, once it was seen.
   */
  async #claim(
    { scope, idempotency, operation, about = noSubject }: KeyedRequest,
    id: string,
    known: Row<IdempotencyData> | null,
  ): Promise<Row<IdempotencyData> | null> {
    const now = this.#deps.clock.now()
    if (known !== null) {
      return this.#isAbandoned(known)
        ? this.#table.replace(known, { ...known.data, claimed_at: now, ...this.#claimant() })
        : null
    }
    const { project, tenant, user } = scope
    const { fingerprint } = idempotency
    const seed = newId('seed').slice(-26)
    const about_user = about.user === null ? null : `${about.tenant}/${about.user}`
    const data = {
      operation,
      fingerprint,
      seed,
      claimed_at: now,
      answer: null,
      about_tenant: about.tenant,
      about_user,
      ...this.#claimant(),
    }
    return this.#table.insert({ id, project, tenant, user, expiresAtMs: now + keptMs, data })
  }

  #isAbandoned({ id, data }: Row<IdempotencyData>): boolean {
    if (data.answer !== null) return false
    const { claimed_by: process } = data
    if (this.#running.has(id)) return false
    if (process !== undefined && this.#deps.processes?.isGone(process) === true) return true
    const age = this.#deps.clock.now() - data.claimed_at
    return age > abandonedMs || age < -aheadMs
  }

  #claimant(): Pick<IdempotencyData, 'claimed_by'> {
    const { processes } = this.#deps
    return processes === undefined ? {} : { claimed_by: processes.self }
  }

  /** Runs the attempt. Other requests of this process with this key await it, and so need not poll the store. */
  async #attempt(
    request: KeyedRequest,
    claimed: Row<IdempotencyData>,
    work: (idempotency: Idempotency) => Promise<unknown>,
  ): Promise<KeyedOutcome> {
    const claim = new Claim(this.#table, claimed, this.#deps)
    const ended = Promise.withResolvers<void>()
    this.#running.set(claimed.id, ended.promise)
    const end = (): void => {
      claim.stop()
      this.#running.delete(claimed.id)
      ended.resolve()
    }
    try {
      const result = await work({ ...request.idempotency, seed: claimed.data.seed })
      if (result instanceof KeptLater) {
        void this.#keepAnswer(request, claim, result.kept)
          .catch(() => {})
          .finally(end)
        return { replayed: false, result: result.now }
      }
      await this.#keepAnswer(request, claim, Promise.resolve(result))
      end()
      return { replayed: false, result }
    } catch (error) {
      await this.#keepAnswer(request, claim, Promise.reject(error)).catch(() => {})
      end()
      throw error
    }
  }

  async #keepAnswer(request: KeyedRequest, claim: Claim, answer: Promise<unknown>): Promise<void> {
    try {
      const result = await answer
      const plain = Buffer.from(await encodeJson({ result })).toString('utf8')
      await claim.keep(request.secret ? this.#sealed(request, { result: null }) : plain, plain)
    } catch (error) {
      const kept = keptError(error)
      await claim.keep(kept === null ? null : this.#sealed(request, { error: kept }))
    }
  }

  /** Resolves when this process's attempt has ended, or after the polling interval. */
  async #settled(id: string): Promise<void> {
    const running = this.#running.get(id)
    if (running === undefined) return pause(this.#deps.clock, pollMs)
    await Promise.race([running.catch(() => {}), pause(this.#deps.clock, pollMs)])
  }

  #sealed(request: KeyedRequest, kept: Kept): string {
    const text = JSON.stringify(kept)
    return request.secret ? this.#deps.box.seal(text, aadOf(request)) : text
  }

  #replay(request: KeyedRequest, answer: string): KeyedOutcome {
    const kept: Kept = JSON.parse(request.secret ? this.#deps.box.open(answer, aadOf(request)) : answer)
    if (!('error' in kept)) {
      if (request.secret) throw new ServiceError('idempotency_secret_shown', { param: 'Idempotency-Key' })
      return { replayed: true, result: kept.result }
    }
    const { code, param, message } = kept.error
    return { replayed: true, error: new ServiceError(code, { message, ...(param === null ? {} : { param }) }) }
  }
}

/** The row of a running attempt, renewed for as long as the attempt takes. */
class Claim {
  readonly #table: Table<IdempotencyData>
  readonly #deps: Pick<IdempotentDeps, 'clock' | 'log'>
  readonly #timer: NodeJS.Timeout
  #row: Row<IdempotencyData>
  #writing: Promise<void> = Promise.resolve()

  constructor(table: Table<IdempotencyData>, row: Row<IdempotencyData>, deps: Pick<IdempotentDeps, 'clock' | 'log'>) {
    this.#table = table
    this.#row = row
    this.#deps = deps
    this.#timer = setInterval(
      () => void this.#write((data) => ({ ...data, claimed_at: deps.clock.now() })),
      renewEveryMs,
    )
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** @param answer null: the key is free for a retry. @param plain text of the answer, which may name a tenant. */
  keep(answer: string | null, plain = ''): Promise<void> {
    this.stop()
    return this.#write((data) => ({
      ...data,
      answer,
      about_tenant: data.about_tenant ?? tenantIn(plain),
      claimed_at: answer === null ? 0 : data.claimed_at,
    }))
  }

  /** Updates the row; a failure costs only the replay, since the next attempt finds what this one created. */
  #write(change: (data: IdempotencyData) => IdempotencyData): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      try {
        this.#row = (await this.#table.replace(this.#row, change(this.#row.data))) ?? this.#row
      } catch (error) {
        this.#deps.log.warn({ err: error, operation: this.#row.data.operation }, 'idempotent answer not kept')
      }
    })
    return this.#writing
  }
}

const noSubject: About = { tenant: null, user: null }

/** Returns the first tenant id that an answer contains. */
const tenantIn = (answer: string): string | null => /\bten_[0-9a-z]{26}\b/.exec(answer)?.[0] ?? null

const claimId = ({ idempotency }: KeyedRequest): string => `idk_${idempotency.cause}`

const aadOf = (request: KeyedRequest): string => answerAad({ id: claimId(request), project: request.scope.project })

/** Associated data under which an answer that reveals a secret is sealed. */
const answerAad = ({ id, project }: Pick<StoredRecord, 'id' | 'project'>): string =>
  `${project}|idempotency_keys|${id.slice('idk_'.length)}`

/** Whether a stored answer is sealed; the others are JSON objects. */
const isSealedAnswer = (answer: string): boolean => !answer.startsWith('{')

/** The error to store; null for errors after which the same request may succeed. */
const keptError = (error: unknown): KeptError | null => {
  if (!(error instanceof ServiceError)) return null
  const { status } = errors[error.code]
  if (status >= 500 || status === 429 || error.code === 'version_conflict') return null
  return { code: error.code, param: error.details.param ?? null, message: error.message }
}
