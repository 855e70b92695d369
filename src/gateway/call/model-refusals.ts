import { providers } from '#specs/data/providers.ts'
import { ServiceError } from '#specs/errors/errors.ts'

const maxShown = 100
const maxNamed = 3

/** The model is offered by known providers, of which none has a key. The message names them and how to add a key. */
export const notConfigured = (
  providerIds: readonly string[],
  { simulates }: { readonly simulates: boolean } = { simulates: false },
): ServiceError => {
  const specs = providers.filter(({ id }) => providerIds.includes(id)).slice(0, maxNamed)
  const names = specs.map(({ name }) => name).join(' or ')
  const variables = specs.map(({ env }) => `${env}_API_KEY`).join(' or ')
  const without = simulates ? ' The model simulated-1 needs no key.' : ''
  const message = `No key is configured for ${names}. Set ${variables} on the server, or add your own key with POST /v1/provider-connections.${without}`
  return new ServiceError('provider_not_configured', { param: 'model', ...(specs.length > 0 && { message }) })
}

/** No provider is known to offer the model. */
export const unknownModel = (model: string): ServiceError => {
  const name = model.length > maxShown ? `${model.slice(0, maxShown)}…` : model
  return new ServiceError('model_not_found', {
    param: 'model',
    message: `There is no model ${JSON.stringify(name)}. GET /v1/models lists the models of this server.`,
  })
}
