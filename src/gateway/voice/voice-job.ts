import { ServiceError } from '../../../specs/errors.ts'
import { statusIn } from '../../../specs/wire-errors.ts'
import { uncoded } from '../../outgoing/uncoded.ts'
import { viaOf } from '../../outgoing/via.ts'
import type { Ticket } from '../call/admission.ts'
import { callerGone } from '../call/call-ledger.ts'
import type { Caller } from '../call/caller.ts'
import type { GatewayCore } from '../call/gateway-core.ts'
import type { Route } from '../call/routes.ts'
import type { Upstreams } from '../call/upstreams.ts'
import { costOfUnits, priceAt } from '../prices/prices.ts'
import type { Usage } from '../prices/usage.ts'
import type { VoiceRequest } from '../providers/voice/voice-format.ts'
import type { Latencies } from './latencies.ts'
import { type CallCourse, type OpenAnswer, openAnswer, type VoicePolicy } from './voice-call.ts'
import { mayGoElsewhere, shown, voiceFailure } from './voice-failure.ts'

/** One way to do what was asked. */
export interface Step<Task> {
  readonly route: Route
  readonly task: Task
}

/** What a request asks of providers. */
export interface VoiceJob<Task> {
  readonly caller: Caller
  /** Operation id. */
  readonly operation: string
  readonly need: 'speech' | 'transcription'
  /** The model as the caller named it. */
  readonly asked: string
  /** In the order in which to try them; never empty. */
  readonly steps: readonly Step<Task>[]
  /** The steps are several models: what one provider refuses another may take. */
  readonly everywhere: boolean
  readonly signal: AbortSignal
  readonly policy: VoicePolicy
  readonly streamed: boolean
  /** The most that a step can use. */
  readonly most: (step: Step<Task>) => Usage
  readonly request: (step: Step<Task>) => VoiceRequest
  /** What was asked, for the request log. */
  readonly logged: () => object
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
  /** Settles and records; the first call counts. */
  end(how: VoiceEnd): void
  /** The provider's trouble in words for the caller. */
  failure(error: unknown): ServiceError
}

/** What jobs stand on. */
export interface VoiceJobParts extends Pick<GatewayCore, 'admission' | 'ledger'> {
  readonly upstreams: Pick<Upstreams, 'of'>
  readonly latencies: Latencies
  readonly now: () => number
}

/**
 * Asks one provider after the other, until one begins to answer.
 *
 * @throws {ServiceError} of the last one, and what admission says. It is recorded then.
 */
export const startJob = async <Task>(parts: VoiceJobParts, job: VoiceJob<Task>): Promise<RunningJob<Task>> => {
  const course: CallCourse = { attempts: 0, status: null }
  const record = new JobRecord(parts, job, course)
  for (const [at, step] of job.steps.entries()) {
    const ticket = await admitted(parts, job, step, record)
    try {
      const answer = await opened(parts, job, step, course)
      record.answered()
      return running(step, answer, ticket, record, course)
    } catch (caught) {
      const error = voiceFailure(caught, step.route, course.status)
      ticket.settle('0')
      const last = at === job.steps.length - 1 || error.code === 'cancelled' || error.code === 'internal_error'
      if (last || !(job.everywhere || mayGoElsewhere(error))) {
        record.write(step.route, { units: null, error, response: () => ({ error: error.code }) }, null)
        throw shown(error, caught)
      }
    }
  }
  throw new Error('a voice job has no steps')
}

/** Asks for leave: for each step anew, since each may be paid for by another key. What is refused is recorded too. */
const admitted = async <Task>(
  { admission }: VoiceJobParts,
  { caller, need, asked, most }: VoiceJob<Task>,
  step: Step<Task>,
  record: JobRecord<Task>,
): Promise<Ticket> => {
  const { source, provider, model } = step.route
  const mostUsd = () => costOfUnits(priceAt(provider, model), most(step))
  try {
    return await admission.admit({ caller, need, model: asked, source, mostUsd })
  } catch (error) {
    if (error instanceof ServiceError) {
      record.write(step.route, { units: null, error, response: () => ({ error: error.code }) }, null)
    }
    throw error
  }
}

const opened = async <Task>(
  { upstreams, latencies }: VoiceJobParts,
  { caller, request, policy, signal }: VoiceJob<Task>,
  step: Step<Task>,
  course: CallCourse,
): Promise<OpenAnswer> => {
  const { route } = step
  const startedMs = performance.now()
  const { headers, ...asked } = request(step)
  const sent = { ...asked, headers: { ...headers, ...uncoded, via: viaOf(caller) } }
  const answer = await openAnswer(upstreams, route, sent, { policy, signal, course })
  latencies.note(caller.project, `${route.provider}/${route.model}`, performance.now() - startedMs)
  return answer
}

const running = <Task>(
  step: Step<Task>,
  answer: OpenAnswer,
  ticket: Ticket,
  record: JobRecord<Task>,
  course: CallCourse,
): RunningJob<Task> => {
  const { route } = step
  let over = false
  return {
    ...step,
    answer,
    headers: [['x-provider', route.provider], ...ticket.headers],
    failure: (error) => voiceFailure(error, route, course.status === 200 ? null : course.status),
    end(how) {
      if (over) return
      over = true
      const usd = how.units === null ? null : costOfUnits(priceAt(route.provider, route.model), how.units)
      ticket.settle(how.units === null ? '0' : usd)
      record.write(route, how, usd)
    },
  }
}

/** Writes down one job once. */
class JobRecord<Task> {
  readonly #parts: VoiceJobParts
  readonly #job: VoiceJob<Task>
  readonly #course: CallCourse
  readonly #startedAt: number
  readonly #startedMs = performance.now()
  #firstByteMs: number | null = null

  constructor(parts: VoiceJobParts, job: VoiceJob<Task>, course: CallCourse) {
    this.#parts = parts
    this.#job = job
    this.#course = course
    this.#startedAt = parts.now()
  }

  /** The first bytes of an answer are there. */
  answered(): void {
    this.#firstByteMs = performance.now() - this.#startedMs
  }

  write(route: Route, { units, error, response }: VoiceEnd, costUsd: string | null): void {
    const { caller, operation, need, asked, streamed, logged } = this.#job
    this.#parts.ledger.record({
      caller,
      operation,
      need,
      asked,
      route,
      units,
      costUsd,
      status: this.#statusBy(error),
      error: error?.code ?? null,
      streamed,
      startedAt: this.#startedAt,
      firstByteMs: this.#firstByteMs,
      durationMs: performance.now() - this.#startedMs,
      attempts: this.#course.attempts,
      bodies: () => ({ request: JSON.stringify(logged()), response: JSON.stringify(response()) }),
    })
  }

  /** A stream that breaks had the good status of its beginning. */
  #statusBy(error: ServiceError | null): number {
    if (error?.code === 'cancelled') return callerGone
    const headersOut = this.#job.streamed && this.#firstByteMs !== null
    return error === null || headersOut ? 200 : statusIn('flat', error.code)
  }
}
