import { type SpeechModel, speechModels } from '#specs/data/speech-models.ts'
import type { Routes } from '../call/routes.ts'
import { speechModelOf } from '../prices/voice-models.ts'
import type { SpeechTask } from '../providers/voice/voice-format.ts'
import { autoNames, speechCandidates } from './auto-candidates.ts'
import type { Latencies } from './latencies.ts'
import {
  autoSteps,
  nativeModel,
  orNull,
  type ProjectRoutes,
  preferredModels,
  routesOf,
  routesOfDefault,
  stepsOf,
  unregistered,
  type VoicePlan,
} from './route-choice.ts'
import { plainTask, type SpeechRequest, speechTask } from './speech-task.ts'

/** The steps of a speech request, in the order in which to try them. */
export type SpeechPlan = VoicePlan<SpeechTask>

/** Chooses the models and providers for a speech request. */
export class SpeechPlanner {
  readonly #routes: Routes
  readonly #latencies: Latencies

  constructor(routes: Routes, latencies: Latencies) {
    this.#routes = routes
    this.#latencies = latencies
  }

  /** @throws {ServiceError} `bad_request` with `param`, `provider_not_configured`, `byok_required` */
  async plan(project: string, requestedModel: string | null, request: SpeechRequest): Promise<SpeechPlan> {
    if (requestedModel === null) return this.#byDefault(project, request)
    if (autoNames.includes(requestedModel.toLowerCase())) return this.#auto(project, requestedModel, request)
    const named = speechModelOf(requestedModel)
    if (named === null) return this.#unregistered(project, requestedModel, request)
    const { model, wireModel, voice } = named
    const own = nativeModel(speechModels, model, { requestedModel, language: request.language })
    const native = own && (await orNull(this.#natively(project, own, { requestedModel, request })))
    if (native !== null) return native
    const task = speechTask(
      model,
      voice === null ? request : { ...request, voice: request.voice ?? voice.id },
      'refuse',
    )
    const routes = await routesOf(this.#of(project), model, wireModel)
    return { requestedModel, auto: false, steps: stepsOf(routes, task) }
  }

  async #natively(
    project: string,
    model: SpeechModel,
    { requestedModel, request }: { readonly requestedModel: string; readonly request: SpeechRequest },
  ): Promise<SpeechPlan> {
    const task = speechTask(model, request, 'default')
    return { requestedModel, auto: false, steps: stepsOf(await routesOf(this.#of(project), model, model.id), task) }
  }

  async #byDefault(project: string, request: SpeechRequest): Promise<SpeechPlan> {
    const { model, routes } = await routesOfDefault(this.#of(project), preferredModels(speechModels, request.language))
    return { requestedModel: model.id, auto: false, steps: stepsOf(routes, speechTask(model, request, 'refuse')) }
  }

  /**
   * When no format is requested, prefers models that return MP3, the default elsewhere; when none does, accepts any
   * format.
   */
  async #auto(project: string, requestedModel: string, request: SpeechRequest): Promise<SpeechPlan> {
    const among = { latencies: this.#latencies, candidates: speechCandidates, modelOf: speechModelOf }
    const choice = { ...this.#of(project), ...among }
    const stepsFor = (wanted: SpeechRequest) => autoSteps(choice, (model) => speechTask(model, wanted, 'default'))
    const steps = await stepsFor({ ...request, format: request.format ?? 'mp3' }).catch((error: unknown) => {
      if (request.format !== null) throw error
      return stepsFor(request)
    })
    return { requestedModel, auto: true, steps }
  }

  async #unregistered(project: string, requestedModel: string, request: SpeechRequest): Promise<SpeechPlan> {
    const routes = await unregistered(this.#of(project), requestedModel)
    return { requestedModel, auto: false, steps: stepsOf(routes, plainTask(request)) }
  }
  #of(project: string): ProjectRoutes {
    return { routes: this.#routes, project, need: 'speech' }
  }
}
