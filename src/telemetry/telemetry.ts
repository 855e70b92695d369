import type { Logger } from 'pino'
import type { Commit } from '../storage/index.ts'
import { ProductMetrics } from './product-metrics.ts'
import type { TraceContext } from './trace-context.ts'
import type { Span, Tracer } from './tracer.ts'

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

/** A turn or run in progress on this process. */
interface Begun {
  /** ms since the epoch. */
  readonly at: number
  /** undefined when traces are off. */
  readonly span: Span | undefined
}

/** Maximum number of remembered turns and runs; of older ones, only the end is counted. */
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
  /** Turns and runs in progress, by actor, the oldest first. */
  readonly #begun = new Map<string, Begun>()
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
      if (begins.has(event_type)) this.#begin(commit, Object(payload))
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

  /** Called when a call of a tool has ended: with an output, with an error, or because it waits for a person. */
  ranTool(kind: string, outcome: 'ok' | 'failed' | 'waiting', ms: number): void {
    this.metrics.toolCalls.add(1, kind, outcome)
    this.metrics.toolDuration.record(ms, kind)
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

  /** The span of the actor's turn or run, in which its effects run; undefined when there is none on this process. */
  spanOf(actor: string): TraceContext | undefined {
    return this.#begun.get(actor)?.span?.context
  }

  /** A span by OpenTelemetry's GenAI conventions holds the turn or run; one whose process is killed never ends. */
  #begin({ actor, at, project, snapshot }: Commit, { agent_id, version, model }: Record<string, unknown>): void {
    const [oldest] = this.#begun.keys()
    if (this.#begun.size >= maxStarts && oldest !== undefined) this.#begun.delete(oldest)
    const agent = agent_id ?? Object(Object(snapshot).context).agent_id
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': actor,
      'gen_ai.agent.id': textOf(agent),
      'gen_ai.agent.version': textOf(version),
      'gen_ai.request.model': textOf(model),
      'troupe.project': project,
    }
    this.#begun.set(actor, { at, span: this.tracer?.begin('invoke_agent', { attributes }) })
  }

  #ended(commit: Commit, [what, outcome]: readonly ['turn' | 'run', string], payload: unknown): void {
    const { actor, project, tenant, at } = commit
    const counter = what === 'turn' ? this.metrics.turns : this.metrics.runs
    const duration = what === 'turn' ? this.metrics.turnDuration : this.metrics.runDuration
    counter.add(1, outcome)
    const begun = this.#begun.get(actor)
    this.#begun.delete(actor)
    if (begun !== undefined) duration.record(at - begun.at, outcome)
    const { code, message } = errorIn(payload)
    begun?.span?.set({ 'error.type': outcome === 'completed' ? undefined : (textOf(code) ?? outcome) })
    begun?.span?.end(outcome === 'completed' ? null : (textOf(message) ?? outcome))
    if (outcome !== 'failed') return
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

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const errorIn = (payload: unknown): { readonly code?: unknown; readonly message?: unknown } =>
  Object(Object(payload).error ?? Object(Object(payload).output).error)
