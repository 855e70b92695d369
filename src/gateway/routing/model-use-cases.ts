import { modelsOf } from '#actors/call/reach.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { listedProviders } from '../catalogue/listed-providers.ts'
import { anthropicModel, anthropicModels } from './anthropic-models.ts'
import { googleModelInfo, isGoogleModel } from './google-models.ts'
import { providerNamed } from './model-names.ts'
import { effective, type ModelRegistry } from './model-registry.ts'
import type { ModelRow } from './model-rows.ts'

/**
 * The model registry (`models.list`). All query parameters are filters and combine. Each id is listed once: the first
 * row in the order of routing that passes the filters.
 *
 * @param origin origin under which logos are served; '' for relative paths.
 */
export const modelUseCases = (
  registry: Pick<ModelRegistry, 'rows'>,
  origin = '',
): Pick<UseCases, 'models.list' | 'models.get' | 'gemini.list_models' | 'gemini.get_model'> => ({
  'models.list': async ({ scope, principal, query, sdk, requestId }) => {
    const { provider, type, available, source, connection_id } = query
    const wanted = provider === undefined ? undefined : providerWord(provider)
    const all = await registry.rows(scope.project)
    const rows = rowsFor(all, modelsOf(principal))
      .filter((row) => wanted === undefined || row.provider.toLowerCase() === wanted)
      .filter((row) => type === undefined || row.types.includes(type))
      .filter((row) => available === undefined || row.available === available)
      .filter((row) => source === undefined || row.source === source)
      .filter((row) => connection_id === undefined || row.connection_id === connection_id)
    const data = usableFirst(effective(rows))
    if (sdk === 'anthropic') return asBytes(anthropicModels(data), requestId)
    if (sdk === 'google') return asBytes({ models: data.filter(isGoogleModel).map(googleModelInfo) }, requestId)
    const names = customNames(all)
    const providers = listedProviders(data, origin, (row) => names.get(row.provider) ?? row.provider)
    return { json: { object: 'list', data, providers } }
  },

  'models.get': async ({ scope, principal, params, sdk, requestId }) => {
    const row = rowNamed(rowsFor(await registry.rows(scope.project), modelsOf(principal)), params.model)
    if (sdk === 'google') return asBytes(googleModelInfo(row), requestId)
    return sdk === 'anthropic' ? asBytes(anthropicModel(row), requestId) : { json: row }
  },

  'gemini.list_models': async ({ scope, principal }) => {
    const rows = rowsFor(await registry.rows(scope.project), modelsOf(principal))
    return { models: usableFirst(effective(rows)).filter(isGoogleModel).map(googleModelInfo) }
  },

  'gemini.get_model': async ({ scope, principal, params }) => {
    const rows = rowsFor(await registry.rows(scope.project), modelsOf(principal))
    return googleModelInfo(rowNamed(rows.filter(isGoogleModel), params.model))
  },
})

/** @throws {ServiceError} `model_not_found` */
const rowNamed = (rows: readonly ModelRow[], model: string): ModelRow => {
  const named = rows.filter(({ id, provider, name }) => model === id || model === `${provider}/${name}`)
  const row = named.find(({ available }) => available) ?? named[0]
  if (row === undefined) throw new ServiceError('model_not_found', { param: 'model' })
  return row
}

/** Names of the custom providers, by the `provider` of their rows. The last row of each is its name as an alias. */
const customNames = (rows: readonly ModelRow[]): ReadonlyMap<string, string> =>
  new Map(rows.filter(({ source }) => source === 'custom').map(({ provider, id }) => [provider, id]))

/** Puts the models that can be called first, since SDKs show the list in its order. The order is otherwise kept. */
const usableFirst = (rows: readonly ModelRow[]): readonly ModelRow[] => [
  ...rows.filter(({ available }) => available),
  ...rows.filter(({ available }) => !available),
]

/** A document of another API, which the operation's schema does not declare. */
const asBytes = (document: object, requestId: string) => ({
  bytes: {
    contentType: 'application/json; charset=utf-8',
    bytes: JSON.stringify(document),
    headers: [['request-id', requestId] as const],
  },
})

/** Resolves aliases, such as `gemini` for `google`, ignoring case. */
const providerWord = (word: string): string => providerNamed(word)?.id ?? word.toLowerCase()

/** Restricts a credential to the models that it reaches. */
const rowsFor = (rows: readonly ModelRow[], own: ReadonlySet<string> | null): readonly ModelRow[] =>
  own === null ? rows : rows.filter(({ id, provider, name }) => own.has(id) || own.has(`${provider}/${name}`))
