import type { Principal } from '#actors/call/call.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { providerNamed } from './model-names.ts'
import { effective, type ModelRegistry } from './model-registry.ts'
import type { ModelRow } from './model-rows.ts'

/**
 * The model registry (`models.list`): every query narrows it, and all of them combine. Each id is
 * there once, as the first in the order of routing offers it among those that the query leaves.
 */
export const modelUseCases = (registry: Pick<ModelRegistry, 'rows'>): Pick<UseCases, 'models.list' | 'models.get'> => ({
  'models.list': async ({ scope, principal, query }) => {
    const { provider, type, available, source, connection_id } = query
    const wanted = provider === undefined ? undefined : providerWord(provider)
    const rows = forKey(await registry.rows(scope.project), principal)
      .filter((row) => wanted === undefined || row.provider.toLowerCase() === wanted)
      .filter((row) => type === undefined || row.types.includes(type))
      .filter((row) => available === undefined || row.available === available)
      .filter((row) => source === undefined || row.source === source)
      .filter((row) => connection_id === undefined || row.connection_id === connection_id)
    return { object: 'list', data: effective(rows) }
  },

  'models.get': async ({ scope, principal, params }) => {
    const rows = forKey(await registry.rows(scope.project), principal)
    const named = rows.filter(({ id, provider, name }) => params.model === id || params.model === `${provider}/${name}`)
    const row = named.find(({ available }) => available) ?? named[0]
    if (row === undefined) throw new ServiceError('model_not_found', { param: 'model' })
    return row
  },
})

/** `gemini` means `google`; case does not matter. */
const providerWord = (word: string): string => providerNamed(word)?.id ?? word.toLowerCase()

/** A key that is seen in browsers chats with its agent and does nothing else. */
const forKey = (rows: readonly ModelRow[], principal: Principal): readonly ModelRow[] => {
  if (principal.kind !== 'agent_key' || principal.keyType !== 'public') return rows
  return rows.map((row) =>
    row.types.includes('chat') || !row.available
      ? row
      : { ...row, available: false, unavailable_reason: 'not_for_this_key' },
  )
}
