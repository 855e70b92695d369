import { providers } from '#specs/data/providers.ts'
import { type ErrorCode, ServiceError } from '#specs/errors/errors.ts'
import { notConfigured } from '../call/model-refusals.ts'
import type { Need, Route, Routes } from '../call/routes.ts'
import { priceAt, priceOf } from '../prices/prices.ts'
import type { NamedModel } from '../prices/voice-models.ts'
import { primaryLanguage } from '../providers/voice/primary-language.ts'
import type { Candidate } from './auto-candidates.ts'
import type { Latencies } from './latencies.ts'
import { unsupportedValue } from './speech-task.ts'
import type { Step } from './voice-job.ts'

/** Capability of a voice model. */
export type VoiceNeed = Extract<Need, 'speech' | 'transcription'>

/** Resolves routes for one project and one kind of voice request. */
export interface ProjectRoutes {
  readonly routes: Routes
  readonly project: string
  readonly need: VoiceNeed
}

/** A model of the registry. */
export interface Registered {
  readonly id: string
  readonly provider: string
}

/**
 * The provider with dedicated models for African languages, for both speech and transcription, and those languages
 * (specs/decisions/0085-voice.md).
 */
const native = { provider: 'spitch', languages: ['yo', 'ha', 'ig', 'am'] }

/**
 * Returns models for a request that names none, best first. A language with dedicated models gets those, any other the
 * first registered model. The simulated model comes last, for servers without a configured provider.
 */
export const preferredModels = <Model extends Registered>(
  models: readonly Model[],
  language: string | null,
): readonly Model[] => {
  const own = language !== null && native.languages.includes(primaryLanguage(language))
  const first = own ? models.find(({ provider }) => provider === native.provider) : models[0]
  const simulated = models.find(({ provider }) => provider === 'simulated')
  return [first, simulated].filter((model) => model !== undefined)
}

/**
 * Returns the dedicated model of the language that replaces an OpenAI model. OpenAI's SDKs require a model name, so
 * naming one is not taken as a choice; and OpenAI's speech models have no voices for these languages. Null when the
 * request names the provider as well, or another provider's model.
 */
export const nativeModel = <Model extends Registered>(
  models: readonly Model[],
  { provider }: Registered,
  { requestedModel, language }: { readonly requestedModel: string; readonly language: string | null },
): Model | null => {
  if (provider !== 'openai' || requestedModel.includes('/')) return null
  const [first] = preferredModels(models, language)
  return first?.provider === native.provider ? first : null
}

/** Resolves to the plan; to null when the dedicated model is not available or cannot do what is requested. */
export const orNull = <Plan>(plan: Promise<Plan>): Promise<Plan | null> =>
  plan.catch((error: unknown) => {
    if (error instanceof ServiceError) return null
    throw error
  })

/** Returns routes to a registered model at its own provider only. @throws {ServiceError} `provider_not_configured` */
export const routesOf = async (
  where: ProjectRoutes,
  { provider }: Registered,
  wireModel: string,
): Promise<readonly Route[]> => {
  const found = await resolved(where, `${provider}/${wireModel}`)
  const own = found.filter((route) => route.provider === provider)
  if (own.length === 0) throw notConfigured([provider])
  return own
}

/** Returns the first of `models` whose provider has a key. When none has, throws the error of the first model. */
export const routesOfDefault = async <Model extends Registered>(
  where: ProjectRoutes,
  models: readonly Model[],
): Promise<{ readonly model: Model; readonly routes: readonly Route[] }> => {
  let refusal: unknown
  for (const model of models) {
    try {
      return { model, routes: await routesOf(where, model, model.id) }
    } catch (error) {
      refusal ??= error
    }
  }
  throw refusal
}

/**
 * Returns routes to a model that is not in the registry: on servers of a customer or of the operator that use OpenAI's
 * wire format.
 *
 * @throws {ServiceError} `bad_request` for any other model
 */
export const unregistered = async (where: ProjectRoutes, requestedModel: string): Promise<readonly Route[]> => {
  const found = await resolved(where, requestedModel)
  const own = found.filter(({ format, source, baseUrl }) => {
    if (format !== 'openai') return false
    return source === 'custom' || (priceOf(requestedModel) === undefined && !knownHosts.has(new URL(baseUrl).host))
  })
  if (own.length > 0) return own
  throw unsupportedValue('model', `There is no ${where.need} model with this name.`)
}

const knownHosts: ReadonlySet<string> = new Set(
  providers.filter(({ baseUrl }) => baseUrl !== '').map(({ baseUrl }) => new URL(baseUrl).host),
)

/** Returns an empty list when no provider serves a model of this name. */
const resolved = async (
  { routes, project, need }: ProjectRoutes,
  requestedModel: string,
): Promise<readonly Route[]> => {
  try {
    return await routes.resolve(project, requestedModel, need)
  } catch (error) {
    if (error instanceof ServiceError && unserved.has(error.code)) return []
    throw error
  }
}

const unserved: ReadonlySet<ErrorCode> = new Set(['model_not_found', 'provider_not_configured'])

/** Input of the auto-router. */
export interface AutoChoice<Model extends Registered> extends ProjectRoutes {
  readonly latencies: Latencies
  readonly candidates: readonly Candidate[]
  readonly modelOf: (name: string) => NamedModel<Model> | null
}

/**
 * Returns steps for all suitable candidates, fastest first. Only the project's own keys are used.
 *
 * @param taskOf throws `bad_request` for a model that cannot do the task.
 * @throws {ServiceError} `byok_required` when the project has no key for any of them.
 */
export const autoSteps = async <Model extends Registered, Task>(
  choice: AutoChoice<Model>,
  taskOf: (model: Model) => Task,
): Promise<readonly Step<Task>[]> => {
  const { project, latencies, candidates, modelOf } = choice
  const found: { readonly ms: number; readonly steps: readonly Step<Task>[] }[] = []
  for (const { name, expectedMs } of candidates) {
    const model = modelOf(name)?.model
    if (model === undefined || priceAt(model.provider, model.id) === undefined) continue
    const task = fitting(() => taskOf(model))
    if (task === null) continue
    const own = (await ownRoutes(choice, model)).map((route) => ({ route, task }))
    if (own.length > 0) found.push({ ms: latencies.of(project, name) ?? expectedMs, steps: own })
  }
  if (found.length === 0) throw new ServiceError('byok_required', { param: 'model' })
  return found.toSorted((a, b) => a.ms - b.ms).flatMap(({ steps }) => steps)
}

const fitting = <Task>(make: () => Task): Task | null => {
  try {
    return make()
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

const ownRoutes = async (where: ProjectRoutes, model: Registered): Promise<readonly Route[]> => {
  try {
    return (await routesOf(where, model, model.id)).filter(({ source }) => source === 'byok')
  } catch (error) {
    if (error instanceof ServiceError) return []
    throw error
  }
}

/** Returns one step per route, all with the same task. */
export const stepsOf = <Task>(routes: readonly Route[], task: Task): readonly Step<Task>[] =>
  routes.map((route) => ({ route, task }))
