import { identityEncoding } from '#outgoing/identity-encoding.ts'
import { viaOf } from '#outgoing/via.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { statusIn } from '#specs/errors/wire-errors.ts'
import type { CallEnd } from '../call/accounting/call-record.ts'
import { routeCost } from '../call/accounting/route-price.ts'
import type { CallPolicy } from '../call/call-policy.ts'
import type { CallRun, CallRunParts, Onward } from '../call/call-run.ts'
import type { Caller } from '../call/caller.ts'
import type { AttemptFailed } from '../call/failure.ts'
import { type AnsweredKind, firstAnswer } from '../call/first-answer.ts'
import type { Found } from '../call/redaction.ts'
import { codeOf, refusalOf } from '../call/refusal.ts'
import type { Route } from '../call/routes.ts'
import { reachable, type Upstreams } from '../call/upstreams.ts'
import { policyFor } from '../call/waits.ts'
import { listedWays, type Way } from '../call/ways.ts'
import type { Usage } from '../prices/usage.ts'
import type { VoiceRequest } from '../providers/voice/voice-format.ts'
import type { Latencies } from './latencies.ts'
import { type OpenAnswer, openAnswer } from './voice-call.ts'
import { mayGoElsewhere, voiceFailure } from './voice-failure.ts'

/** One way to serve a request. */
export interface Step<Task> {
  readonly route: Route
  readonly task: Task
}

/** What a request needs of providers. */
export interface VoiceJob<Task> {
  readonly caller: Caller
  /** Operation id. */
  readonly operation: string
  readonly need: 'speech' | 'transcription'
  /** The model as the caller named it. */
  readonly requestedModel: string
  /** In the order in which to try them; never empty. */
  readonly steps: readonly Step<Task>[]
  /** The steps are several models: what one provider refuses another may take. */
  readonly everywhere: boolean
  readonly signal: AbortSignal
  readonly policy: CallPolicy
  readonly streamed: boolean
  /** The most that a step can use. */
  readonly most: (step: Step<Task>) => Usage
  readonly request: (step: Step<Task>) => VoiceRequest
  /** The request, for the request log. */
  readonly logged: () => object
  /** Personal data that was replaced in it; absent for none. */
  readonly redactions?: Found | undefined
}

/** How a job ended. */
export interface VoiceEnd {
  /** null: nothing is charged. */
  readonly units: Usage | null
  /** null: all went well. */
  readonly error: ServiceError | null
  /** What was answered, for the request log. */
  readonly response: () => object
}

/** A job that a provider answers. */
export interface RunningJob<Task> extends Step<Task> {
  readonly answer: OpenAnswer
  /** `x-provider`, and what is left of limits. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** What it cost, as exact decimal text, once it has ended; null when the price is unknown. */
  costUsd(): string | null
  /** Settles and records; the first call counts. */
  end(how: VoiceEnd): void
  /** The provider's trouble in words for the caller. */
  failure(error: unknown): ServiceError
}

/** What jobs are made with. */
export interface VoiceJobParts extends Omit<CallRunParts, 'policy' | 'breaker'> {
  readonly upstreams: Pick<Upstreams, 'of'>
  readonly latencies: Latencies
}

/**
 * Takes a job along the road of all calls until one provider begins to answer.
 *
 * @throws {ServiceError} of the last one, and what admission says. It is recorded then.
 */
export const startJob = async <Task>(parts: VoiceJobParts, job: VoiceJob<Task>): Promise<RunningJob<Task>> => {
  const { requestedModel, steps, policy } = job
  const kind = new VoiceCall(parts, job)
  const ways = listedWays(steps.map(({ route, task }) => ({ model: requestedModel, route, task })))
  const { run, way, answer } = await firstAnswer<VoiceWay<Task>, OpenAnswer>(
    { ...parts, policy, breaker: null },
    kind.steps(),
    ways,
  )
  return {
    route: way.route,
    task: way.task,
    answer,
    headers: run.headers(),
    failure: (error) => kind.failure(error, way),
    costUsd: () => (kind.ended?.units ? costOf(way, kind.ended.units) : null),
    end: (how) => {
      if (run.isOver) return
      kind.ended = { ...how, way }
      if (how.error === null) run.succeed()
      else run.close(how.error)
    },
  }
}

type VoiceWay<Task> = Step<Task> & Way

/** One job, as a kind of call. */
class VoiceCall<Task> {
  readonly #parts: VoiceJobParts
  readonly #job: VoiceJob<Task>
  #way: VoiceWay<Task> | null = null
  /** Of the first attempt on the current way. */
  #startedMs = 0
  /** Status that the provider answered last; null when it answered none. */
  #status: number | null = null
  ended: (VoiceEnd & { readonly way: VoiceWay<Task> }) | null = null

  constructor(parts: VoiceJobParts, job: VoiceJob<Task>) {
    this.#parts = parts
    this.#job = job
  }

  steps(): AnsweredKind<VoiceWay<Task>, OpenAnswer> {
    const { caller, operation, need, requestedModel, streamed, signal, most } = this.#job
    return {
      ...{ caller, operation, need, model: requestedModel, streamed, signal },
      mostUsd: (way) => costOf(way, most(way)),
      sharesTicket: () => false,
      answer: (way, run) => this.#opened(way, run),
      discard: (answer) => answer.close(),
      onward: (failure, way) => this.#onward(failure, way),
      refusalOf: (failure) => this.#refusalOf(failure),
      end: (error) => this.#end(error),
    }
  }

  /** The trouble of the provider that answers, in words for the caller. */
  failure(error: unknown, { route }: VoiceWay<Task>): ServiceError {
    return voiceFailure(error, route, this.#status === 200 ? null : this.#status)
  }

  async #opened(way: VoiceWay<Task>, run: CallRun<VoiceWay<Task>>): Promise<OpenAnswer> {
    const { caller, request, policy, signal } = this.#job
    const { upstreams, latencies } = this.#parts
    const { route } = way
    if (way !== this.#way) this.#startedMs = performance.now()
    this.#way = way
    this.#status = null
    const { headers, ...rest } = request(way)
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

  /** What one model refuses another may take; the same model would refuse it again. */
  #onward(failure: AttemptFailed, { route }: VoiceWay<Task>): Onward {
    const error = voiceFailure(failure, route, this.#status)
    if (error.code === 'cancelled') return 'nowhere'
    return this.#job.everywhere || mayGoElsewhere(error) ? 'other_way' : 'nowhere'
  }

  #refusalOf(failure: unknown): Error {
    if (failure instanceof ServiceError || this.#way === null) return refusalOf(failure)
    const error = voiceFailure(failure, this.#way.route, this.#status)
    return error.code === 'internal_error' ? refusalOf(failure) : error
  }

  #end(error: Error | null): CallEnd {
    const { streamed, logged } = this.#job
    const { ended } = this
    const usage = ended?.units ?? null
    // a stream that breaks had the good status of its beginning
    const headOut = error === null || (streamed && ended !== null)
    return {
      usage,
      costUsd: ended === null || usage === null ? null : costOf(ended.way, usage),
      redactions: this.#job.redactions,
      status: headOut ? 200 : statusIn('flat', codeOf(error)),
      bodies: () => ({
        request: JSON.stringify(logged()),
        response: JSON.stringify(ended?.response() ?? { error: error === null ? null : codeOf(error) }),
      }),
    }
  }
}

const costOf = ({ route }: { readonly route: Route }, usage: Usage): string | null => routeCost(route, usage)
