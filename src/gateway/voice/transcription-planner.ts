import { type TranscriptionModel, transcriptionModels } from '#specs/data/transcription-models.ts'
import type { Routes } from '../call/routes.ts'
import { transcriptionModelOf } from '../prices/voice-models.ts'
import type { TranscriptionTask } from '../providers/voice/voice-format.ts'
import { autoNames, transcriptionCandidates } from './auto-candidates.ts'
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
import { plainTranscription, type TranscriptionRequest, transcriptionTask } from './transcription-task.ts'

/** The steps of a transcription request, in the order in which to try them. */
export type TranscriptionPlan = VoicePlan<TranscriptionTask>

/** Chooses the models and providers for a transcription request. */
export class TranscriptionPlanner {
  readonly #routes: Routes
  readonly #latencies: Latencies

  constructor(routes: Routes, latencies: Latencies) {
    this.#routes = routes
    this.#latencies = latencies
  }

  /** @throws {ServiceError} `bad_request` with `param`, `provider_not_configured`, `byok_required` */
  async plan(
    project: string,
    requestedModel: string | null,
    request: TranscriptionRequest,
  ): Promise<TranscriptionPlan> {
    if (requestedModel === null) return this.#byDefault(project, request)
    if (autoNames.includes(requestedModel.toLowerCase())) return this.#auto(project, requestedModel, request)
    const named = transcriptionModelOf(requestedModel)
    if (named === null) {
      const own = await unregistered(this.#of(project), requestedModel)
      return { requestedModel, auto: false, steps: stepsOf(own, plainTranscription(request)) }
    }
    const own = nativeModel<TranscriptionModel>(transcriptionModels, named.model, {
      requestedModel,
      language: request.language,
    })
    const native = own && (await orNull(this.#natively(project, own, { requestedModel, request })))
    if (native !== null) return native
    const task = transcriptionTask(named.model, request)
    const routes = await routesOf(this.#of(project), named.model, named.wireModel)
    return { requestedModel, auto: false, steps: stepsOf(routes, task) }
  }

  async #natively(
    project: string,
    model: TranscriptionModel,
    { requestedModel, request }: { readonly requestedModel: string; readonly request: TranscriptionRequest },
  ): Promise<TranscriptionPlan> {
    const task = transcriptionTask(model, request)
    return { requestedModel, auto: false, steps: stepsOf(await routesOf(this.#of(project), model, model.id), task) }
  }

  async #byDefault(project: string, request: TranscriptionRequest): Promise<TranscriptionPlan> {
    const models: readonly TranscriptionModel[] = preferredModels(transcriptionModels, request.language)
    const { model, routes } = await routesOfDefault(this.#of(project), models)
    return { requestedModel: model.id, auto: false, steps: stepsOf(routes, transcriptionTask(model, request)) }
  }

  async #auto(project: string, requestedModel: string, request: TranscriptionRequest): Promise<TranscriptionPlan> {
    const among = { latencies: this.#latencies, candidates: transcriptionCandidates, modelOf: transcriptionModelOf }
    const choice = { ...this.#of(project), ...among }
    const steps = await autoSteps(choice, (model) => transcriptionTask(model, request))
    return { requestedModel, auto: true, steps }
  }

  #of(project: string): ProjectRoutes {
    return { routes: this.#routes, project, need: 'transcription' }
  }
}
