import type { Logger } from 'pino'
import type { Commit } from '../storage/index.ts'
import { ProductMetrics } from './product-metrics.ts'
import type { Tracer } from './tracer.ts'

/** Measurements of a finished model call. */
export interface MeasuredCall {
  readonly operation: string
  readonly project: string
  /** null: no provider was called. */
  readonly provider: string | null
  readonly model: string
  readonly status: number
  readonly error: string | null
  readonly inputTokens: number
  readonly outputTokens: number
  /** USD as decimal text; null when unknown. */
  readonly costUsd: string | null
  readonly durationMs: number
  readonly firstByteMs: number | null
  readonly attempts: number
}

/** Events that end a turn or a run, and their outcome. */
const ends: Readonly<Record<string, readonly ['turn' | 'run', string]>> = {
  'turn.completed': ['turn', 'completed'],
  'turn.failed': ['turn', 'failed'],
  'run.completed': ['run', 'completed'],
  'run.failed': ['run', 'failed'],
  'run.cancelled': ['run', 'cancelled'],
  'run.expired': ['run', 'expired'],
}

const begins = new Set(['turn.started', 'run.queued'])

/** Maximum number of remembered start times; beyond it, only the end of a turn or run is counted. */
const maxStarts = 100_000
const maxProjects = 1_000

/**
 * Observability of a process: metrics, a log line with ids for each failure of work for callers, and spans if traces
 * are on. Its methods never wait or throw.
 */
export class Telemetry {
  readonly metrics = new ProductMetrics()
  /** null: traces are off. */
  readonly tracer: Tracer | null
  readonly #log: Logger
  /** Start time of an actor's turn or run, in ms since the epoch. */
  readonly #startedAt = new Map<string, number>()
  readonly #queued = new Set<string>()
  readonly #projects = new Set<string>()

  constructor(log: Logger, tracer: Tracer | null = null) {
    this.#log = log
    this.tracer = tracer
  }

  /** Queued runs, of those queued since the process started. */
  get queuedRuns(): number {
    return this.#queued.size
  }

  /** Projects with commits since the start. */
  get projects(): ReadonlySet<string> {
    return this.#projects
  }

  /** Called when a commit is durable. */
  committed(commit: Commit): void {
    if (this.#projects.size < maxProjects) this.#projects.add(commit.project)
    for (const { event_type, payload } of commit.events) {
      if (begins.has(event_type)) this.#begin(commit)
      if (event_type === 'run.queued' && this.#queued.size < maxStarts) this.#queued.add(commit.actor)
      else if (event_type.startsWith('run.')) this.#queued.delete(commit.actor)
      const end = ends[event_type]
      if (end !== undefined) this.#ended(commit, end, payload)
    }
    if (commit.machine.startsWith('delivery@')) this.#delivery(commit)
  }

  /**
   * Called when an effect has ended: `done` with a result, `ended` by its machine, `gone` with its actor, or `threw`.
   */
  effect(name: string, outcome: 'done' | 'ended' | 'gone' | 'threw', ms: number): void {
    this.metrics.effects.add(1, name, outcome)
    this.metrics.effectDuration.record(ms, name)
  }

  /** Called when a model call has ended. */
  called(call: MeasuredCall): void {
    const { metrics } = this
    const { operation, project, provider, model, status, error, attempts } = call
    const source = provider ?? 'none'
    metrics.calls.add(1, source, model, error ?? 'ok')
    metrics.callDuration.record(call.durationMs, source, model)
    if (call.firstByteMs !== null) metrics.firstByte.record(call.firstByteMs, source, model)
    if (call.inputTokens > 0) metrics.tokens.add(call.inputTokens, source, model, 'input')
    if (call.outputTokens > 0) metrics.tokens.add(call.outputTokens, source, model, 'output')
    if (call.costUsd !== null) metrics.cost.add(Number(call.costUsd), source, model)
    if (attempts > 1) metrics.fallbacks.add(attempts - 1, source, model)
    if (error === null || status < 500) return
    this.#log.warn({ operation, project, provider, model, status, code: error, attempts }, 'call to a model failed')
  }

  /** Observer of requests to hosts that customers choose. */
  readonly outgoing = {
    requested: (kind: string, outcome: string, ms: number): void => {
      this.metrics.outgoing.add(1, kind, outcome)
      this.metrics.outgoingDuration.record(ms, kind)
    },
    unread: (kind: string, reason: string): void => this.metrics.outgoingUnread.add(1, kind, reason),
  }

  /** Called when a login was refused. */
  loginRefused(requestId: string, address: string, code: string): void {
    this.metrics.refusedLogins.add(1)
    this.#log.warn({ requestId, address, code }, 'login refused')
  }

  #begin({ actor, at }: Commit): void {
    if (this.#startedAt.size < maxStarts) this.#startedAt.set(actor, at)
  }

  #ended(commit: Commit, [what, outcome]: readonly ['turn' | 'run', string], payload: unknown): void {
    const { actor, project, tenant, at } = commit
    const counter = what === 'turn' ? this.metrics.turns : this.metrics.runs
    const duration = what === 'turn' ? this.metrics.turnDuration : this.metrics.runDuration
    counter.add(1, outcome)
    const startedAt = this.#startedAt.get(actor)
    if (startedAt !== undefined) duration.record(at - startedAt, outcome)
    this.#startedAt.delete(actor)
    if (outcome !== 'failed') return
    const { code, message } = errorIn(payload)
    this.#log.warn({ actorId: actor, project, tenant, code, reason: message }, `${what} failed`)
  }

  #delivery({ actor, project, event, reminders }: Commit): void {
    const { type, status, error, reason } = Object(event)
    if (type === 'attempt_succeeded') this.metrics.deliveries.add(1, 'delivered')
    if (type === 'postponed') this.metrics.deliveries.add(1, 'postponed')
    if (type !== 'attempt_failed' && type !== 'undeliverable') return
    // a delivery that will be retried has a reminder for it; a failed one has only that of its removal
    const isLast = event.final === true || type === 'undeliverable' || !Object.keys(reminders).some(isBackoff)
    this.metrics.deliveries.add(1, isLast ? 'failed' : 'retried')
    const facts = { actorId: actor, project, status, reason: error ?? reason }
    this.#log.warn(facts, isLast ? 'webhook not delivered' : 'webhook not delivered, trying again')
  }
}

const isBackoff = (name: string): boolean => name.includes('backoff') || name.includes('waiting')

const errorIn = (payload: unknown): { readonly code?: unknown; readonly message?: unknown } =>
  Object(Object(payload).error ?? Object(Object(payload).output).error)
