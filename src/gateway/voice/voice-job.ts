import { identityEncoding } from '#outgoing/identity-encoding.ts'
import { viaOf } from '#outgoing/via.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { statusIn } from '#specs/errors/wire-errors.ts'
import type { CallEnd } from '../call/accounting/call-record.ts'
import { possibleUnits } from '../call/accounting/possible-units.ts'
import { routeCost } from '../call/accounting/route-price.ts'
import type { CallPolicy } from '../call/call-policy.ts'
import type { CallRun, CallRunParts, Onward } from '../call/call-run.ts'
import type { Caller } from '../call/caller.ts'
import { type Candidate, type CandidateQueue, listedCandidates, mappedCandidates } from '../call/candidates.ts'
import type { AttemptFailed } from '../call/failure.ts'
import { type AnsweredKind, firstAnswer } from '../call/first-answer.ts'
import type { RouteHealth } from '../call/pools/route-health.ts'
import { policyFor } from '../call/provider-timeouts.ts'
import type { Found } from '../call/redaction.ts'
import { codeOf, refusalOf } from '../call/refusal.ts'
import { RouteCandidates } from '../call/route-candidates.ts'
import type { Route } from '../call/routes.ts'
import { reachable, type Upstreams } from '../call/upstreams.ts'
import type { GuardCall } from '../guardrails/guard-call.ts'
import { tokensOfUsage, type Usage } from '../prices/usage.ts'
import { providerFormats } from '../providers/provider-formats.ts'
import type { VoiceFormat, VoiceRequest } from '../providers/voice/voice-format.ts'
import type { Latencies } from './latencies.ts'
import { type OpenAnswer, openAnswer } from './voice-call.ts'
import { isRetryableElsewhere, shown, voiceFailure } from './voice-failure.ts'

/** One attempt to serve a request: a route, and the task for its model. */
export interface Step<Task> {
  readonly route: Route
  readonly task: Task
}

/** A voice request of a caller. */
export interface VoiceCall<Request> {
  readonly caller: Caller
  /** Operation id. */
  readonly operation: string
  /** null: a model dedicated to the language, else the first model of the registry. */
  readonly model: string | null
  readonly request: Request
  readonly signal: AbortSignal
  /** Called with the cost in USD when the call has ended; null: unknown. */
  readonly onCost?: (usd: string | null) => void
}

/** The steps of a request. */
export interface VoicePlan<Task> {
  readonly requestedModel: string
  /** Whether the auto-router chose the steps: several models, one of which may accept what another rejects. */
  readonly auto: boolean
  /** In the order in which to try them; never empty, except beside `ruled`. */
  readonly steps: readonly Step<Task>[]
  /** The model of a rule of the routing policy, which is tried before; absent for none. */
  readonly ruled?: { readonly model: string; readonly note: string | null; readonly steps: readonly Step<Task>[] }
}

/** A voice request as the call runner needs it. */
export interface VoiceJob<Task> {
  readonly call: Omit<VoiceCall<unknown>, 'model' | 'request'>
  readonly plan: VoicePlan<Task>
  readonly need: 'speech' | 'transcription'
  readonly policy: CallPolicy
  readonly streamed: boolean
  /** Returns an upper bound of a step's usage. */
  readonly max: (step: Step<Task>) => Usage
  readonly request: (step: Step<Task>) => VoiceRequest
  /** Returns the request as written to the request log. */
  readonly logged: () => object
  /** Counts of the personal data that was redacted in the request; absent for none. */
  readonly redactions?: Found | undefined
  /** The guardrails of the call; absent or null for none. */
  readonly guard?: GuardCall | null | undefined
}

/** How a job ended. */
interface VoiceEnd {
  /** Usage to charge; null: nothing is charged. */
  readonly units: Usage | null
  /** null: the job succeeded. */
  readonly error: ServiceError | null
  /** Returns the response as written to the request log. */
  readonly response: () => object
}

/** A job to which a provider has begun to respond. */
export interface RunningJob<Task> extends Step<Task> {
  readonly answer: OpenAnswer
  /** `x-provider`, and the remaining amounts of limits. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Returns the cost in USD, as exact decimal text, once the job has ended; null when the price is unknown. */
  costUsd(): string | null
  /** Settles and records the job; only the first call has an effect. */
  end(how: VoiceEnd): void
  /** Maps a provider's error to the error shown to the caller. */
  failure(error: unknown): ServiceError
}

/** Dependencies of voice jobs. */
export interface VoiceJobParts extends Omit<CallRunParts, 'policy' | 'health'> {
  readonly health: RouteHealth
  readonly upstreams: Pick<Upstreams, 'of'>
  readonly latencies: Latencies
}

/**
 * Runs a job through the steps shared by all calls until one provider begins to respond.
 *
 * @throws {ServiceError} the error of the last provider, or of admission. The failed call has been recorded by then.
 */
export const startJob = async <Task>(parts: VoiceJobParts, job: VoiceJob<Task>): Promise<RunningJob<Task>> => {
  const { policy } = job
  const kind = new RunningCall(parts, job)
  const { run, candidate, answer } = await firstAnswer<VoiceCandidate<Task>, OpenAnswer>(
    { ...parts, policy },
    kind.steps(),
    candidatesOf(parts, job),
  )
  return {
    route: candidate.route,
    task: candidate.task,
    answer,
    headers: run.headers(),
    failure: (error) => kind.failure(error, candidate),
    costUsd: () => (kind.ended?.units ? costOf(candidate, kind.ended.units) : null),
    end: (how) => {
      if (run.isOver) return
      const units = how.units === null ? null : possibleUnits(how.units, job.max(candidate))
      kind.ended = { ...how, units, candidate }
      if (units !== null) job.call.onCost?.(costOf(candidate, units))
      if (how.error === null) run.succeed()
      else run.close(how.error)
    },
  }
}

type VoiceCandidate<Task> = Step<Task> & Candidate

/** The steps in order: those of the auto-router by latency, those to one model by the policy of its pool and by their health. */
const candidatesOf = <Task>(
  { health }: VoiceJobParts,
  { call, need, plan: { auto, requestedModel: model, steps, ruled } }: VoiceJob<Task>,
): CandidateQueue<VoiceCandidate<Task>> => {
  if (auto) return listedCandidates(steps.map((step) => ({ ...step, model })))
  const byModel = new Map([...(ruled ? [[ruled.model, ruled.steps] as const] : []), [model, steps] as const])
  const tasks = new Map([...byModel.values()].flat().map(({ route, task }) => [route, task]))
  const routes = { resolve: (_project: string, named: string) => (byModel.get(named) ?? []).map(({ route }) => route) }
  const models = [...byModel.keys()].filter((named) => byModel.get(named)?.length !== 0)
  const query = { project: call.caller.project, need, models, note: ruled?.note ?? null }
  const found = new RouteCandidates({ routes, health }, query)
  return mappedCandidates(found, (candidate) => {
    const task = tasks.get(candidate.route)
    if (task === undefined) throw new Error('a route without a task')
    return { ...candidate, task }
  })
}

/** Adapts a job to the call runner. */
class RunningCall<Task> {
  readonly #parts: VoiceJobParts
  readonly #job: VoiceJob<Task>
  #candidate: VoiceCandidate<Task> | null = null
  /** Start of the first attempt on the current way. */
  #startedMs = 0
  /** Status of the provider's last response; null when there was none. */
  #status: number | null = null
  ended: (VoiceEnd & { readonly candidate: VoiceCandidate<Task> }) | null = null

  constructor(parts: VoiceJobParts, job: VoiceJob<Task>) {
    this.#parts = parts
    this.#job = job
  }

  steps(): AnsweredKind<VoiceCandidate<Task>, OpenAnswer> {
    const { call, plan, need, streamed, max } = this.#job
    const { caller, operation, signal } = call
    return {
      ...{ caller, operation, need, model: plan.requestedModel, streamed, signal },
      maxUsd: (candidate) => costOf(candidate, max(candidate)),
      tokens: (candidate) => ({ max: tokensOfUsage(max(candidate)) }),
      sharesTicket: () => false,
      answer: (candidate, run) => this.#opened(candidate, run),
      discard: (answer) => answer.close(),
      onward: (failure, candidate) => this.#onward(failure, candidate),
      refusalOf: (failure) => this.#refusalOf(failure),
      end: (error) => this.#end(error),
    }
  }

  /** Maps an error of the responding provider to the error shown to the caller. */
  failure(error: unknown, { route }: VoiceCandidate<Task>): ServiceError {
    return voiceFailure(error, route, this.#status === 200 ? null : this.#status)
  }

  async #opened(candidate: VoiceCandidate<Task>, run: CallRun<VoiceCandidate<Task>>): Promise<OpenAnswer> {
    const { request, policy } = this.#job
    const { caller, signal } = this.#job.call
    const { upstreams, latencies } = this.#parts
    const { route } = candidate
    if (candidate !== this.#candidate) this.#startedMs = performance.now()
    this.#candidate = candidate
    this.#status = null
    const { headers, ...rest } = request(candidate)
    const sent = { ...rest, headers: { ...headers, ...identityEncoding, via: viaOf(caller) } }
    const spentMs = performance.now() - this.#startedMs
    run.record.attempts++
    const answer = await openAnswer(reachable(upstreams, route), sent, {
      ...{ policy: policyFor(policy, route.waits, caller.timeoutMs), signal, spentMs },
      onStatus: (status) => {
        this.#status = status
      },
    })
    latencies.note(caller.project, `${route.provider}/${route.model}`, performance.now() - this.#startedMs)
    run.record.begun()
    return answer
  }

  /**
   * Decides whether to continue with another way: another model may accept what one rejected, but the same model would
   * reject it again.
   */
  #onward(failure: AttemptFailed, { route }: VoiceCandidate<Task>): Onward {
    const error = voiceFailure(failure, route, this.#status)
    if (error.code === 'cancelled') return 'nowhere'
    return this.#job.plan.auto || isRetryableElsewhere(error) ? 'other_way' : 'nowhere'
  }

  #refusalOf(failure: unknown): Error {
    if (failure instanceof ServiceError || this.#candidate === null) return refusalOf(failure)
    const error = voiceFailure(failure, this.#candidate.route, this.#status)
    return error.code === 'internal_error' ? refusalOf(failure) : error
  }

  #end(error: Error | null): CallEnd {
    const { streamed, logged } = this.#job
    const { ended } = this
    const usage = ended?.units ?? null
    // a stream that breaks off has already sent status 200
    const headOut = error === null || (streamed && ended !== null)
    return {
      usage,
      costUsd: ended === null || usage === null ? null : costOf(ended.candidate, usage),
      redactions: this.#job.redactions,
      guardrails: this.#job.guard?.report.findings,
      status: headOut ? 200 : statusIn('flat', codeOf(error)),
      bodies: () => ({
        request: JSON.stringify(logged()),
        response: JSON.stringify(ended?.response() ?? { error: error === null ? null : codeOf(error) }),
      }),
    }
  }
}

const costOf = ({ route }: { readonly route: Route }, usage: Usage): string | null => routeCost(route, usage)

/**
 * Reads the whole answer of a job, and ends the job.
 *
 * @param read returns the result, its usage, and the response as written to the request log.
 * @throws {ServiceError} the error shown to the caller.
 */
export const readJob = async <Task, Result>(
  job: RunningJob<Task>,
  read: () => Promise<{ readonly result: Result; readonly units: Usage; readonly response: object }>,
): Promise<Result> => {
  try {
    const { result, units, response } = await read()
    job.end({ units, error: null, response: () => response })
    return result
  } catch (caught) {
    const error = job.failure(caught)
    job.end({ units: null, error, response: () => ({ error: error.code }) })
    throw shown(error, caught)
  } finally {
    job.answer.close()
  }
}

/** Returns the voice API of a route. */
export const voiceOf = ({ format }: Route): VoiceFormat => {
  const { voice } = providerFormats[format]
  if (voice === undefined) throw new Error(`no voice format of ${format}`)
  return voice
}
