import type { Routes } from '../call/routes.ts'
import type { NamedModel } from '../prices/voice-models.ts'
import { autoNames, type Candidate } from './auto-candidates.ts'
import type { Latencies } from './latencies.ts'
import {
  autoSteps,
  nativeModel,
  orNull,
  preferredModels,
  type Registered,
  routesOf,
  routesOfDefault,
  stepsOf,
  unregistered,
  type VoiceNeed,
} from './route-choice.ts'
import type { VoicePlan } from './voice-job.ts'

export interface VoiceKind<Request, Model, Task> {
  readonly need: VoiceNeed
  readonly models: readonly Model[]
  readonly modelOf: (name: string) => NamedModel<Model> | null
  /** Models of the auto-router. */
  readonly candidates: readonly Candidate[]
  /** Returns the task for a model that the request names. @throws {ServiceError} `bad_request` with `param` */
  readonly task: (named: Pick<NamedModel<Model>, 'model' | 'voice'>, request: Request) => Task
  /** Returns the task for a model that the server has chosen. @throws {ServiceError} `bad_request` with `param` */
  readonly chosenTask: (model: Model, request: Request) => Task
  /** Returns the task for a server of which only the wire format is known. */
  readonly plainTask: (request: Request) => Task
  /** Returns the requests that the auto-router attempts, best first. */
  readonly preferred: (request: Request) => readonly Request[]
}

/** Chooses the models and providers for requests. */
export interface Planner<Request, Task> {
  /** @throws {ServiceError} `bad_request` with `param`, `provider_not_configured`, `byok_required` */
  plan(project: string, requestedModel: string | null, request: Request): Promise<VoicePlan<Task>>
}

/** Chooses the models and providers for the requests of one kind. */
export class VoicePlanner<Request extends { readonly language: string | null }, Model extends Registered, Task>
  implements Planner<Request, Task>
{
  readonly #kind: VoiceKind<Request, Model, Task>
  readonly #routes: Routes
  readonly #latencies: Latencies

  constructor(kind: VoiceKind<Request, Model, Task>, routes: Routes, latencies: Latencies) {
    this.#kind = kind
    this.#routes = routes
    this.#latencies = latencies
  }

  async plan(project: string, requestedModel: string | null, request: Request): Promise<VoicePlan<Task>> {
    const { modelOf, models, need, task, plainTask } = this.#kind
    const where = { routes: this.#routes, project, need }
    if (requestedModel === null) {
      const { model, routes } = await routesOfDefault(where, preferredModels(models, request.language))
      return planOf(model.id, stepsOf(routes, task({ model, voice: null }, request)))
    }
    if (autoNames.includes(requestedModel.toLowerCase())) return this.#auto(project, requestedModel, request)
    const named = modelOf(requestedModel)
    if (named === null)
      return planOf(requestedModel, stepsOf(await unregistered(where, requestedModel), plainTask(request)))
    const own = nativeModel(models, named.model, { requestedModel, language: request.language })
    const native = own && (await orNull(this.#natively(project, own, request)))
    if (native !== null) return planOf(requestedModel, native)
    const steps = task(named, request)
    return planOf(requestedModel, stepsOf(await routesOf(where, named.model, named.wireModel), steps))
  }

  async #natively(project: string, model: Model, request: Request) {
    const where = { routes: this.#routes, project, need: this.#kind.need }
    const task = this.#kind.chosenTask(model, request)
    return stepsOf(await routesOf(where, model, model.id), task)
  }

  async #auto(project: string, requestedModel: string, request: Request): Promise<VoicePlan<Task>> {
    const { need, candidates, modelOf, chosenTask, preferred } = this.#kind
    const choice = { routes: this.#routes, latencies: this.#latencies, project, need, candidates, modelOf }
    let refusal: unknown
    for (const each of preferred(request)) {
      try {
        const steps = await autoSteps(choice, (model) => chosenTask(model, each))
        return { requestedModel, auto: true, steps }
      } catch (error) {
        refusal = error
      }
    }
    throw refusal
  }
}

const planOf = <Task>(requestedModel: string, steps: VoicePlan<Task>['steps']): VoicePlan<Task> => ({
  requestedModel,
  auto: false,
  steps,
})
