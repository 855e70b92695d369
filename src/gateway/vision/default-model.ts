import { providers } from '#specs/data/providers.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Route, Routes } from '../call/routes.ts'
import { visionModelOf } from '../prices/model-capabilities.ts'

/** A model, and the first route to call. */
export interface Chosen {
  readonly model: string
  readonly route: Route
}

/** The API's default model. */
const usual = 'gpt-4o-mini'

/** Each provider's model for images, in the order of the provider table, with the simulated one last. */
const others = providers.flatMap(({ id }) => {
  const model = visionModelOf(id)
  return model === null ? [] : [`${id}/${model}`]
})

/**
 * Returns the model named in a request; without one the default, or when that is not available, the first available
 * provider's model for images.
 *
 * @throws {ServiceError} `model_not_found`, `provider_not_configured`
 */
export const chooseModel = async (routes: Routes, project: string, requestedModel: string | null): Promise<Chosen> => {
  if (requestedModel !== null) return chosen(routes, project, requestedModel)
  for (const model of [usual, ...others]) {
    const found = await chosen(routes, project, model).catch(unlessRefused)
    if (found !== null) return found
  }
  throw new ServiceError('provider_not_configured', {
    param: 'model',
    message:
      'No provider with models that accept images has a key. Set one on the server, such as OPENAI_API_KEY, or add your own key with POST /v1/provider-connections.',
  })
}

const chosen = async (routes: Routes, project: string, model: string): Promise<Chosen> => {
  const [route] = await routes.resolve(project, model, 'vision')
  if (route === undefined) throw new ServiceError('model_not_found', { param: 'model' })
  return { model, route }
}

const unlessRefused = (error: unknown): null => {
  if (error instanceof ServiceError) return null
  throw error
}
