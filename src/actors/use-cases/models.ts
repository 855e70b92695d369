import type { Providers } from '../gateway/providers.ts'
import type { UseCases } from './use-cases.ts'

/** The model registry (interface "Model registry entry"): every query narrows it, and all of them combine. */
export const modelUseCases = (providers: Pick<Providers, 'list'>): Pick<UseCases, 'models.list'> => ({
  'models.list': async ({ query }) => {
    const { provider, type, available, source, connection_id } = query
    const data = providers
      .list()
      .filter((row) => provider === undefined || row.provider === provider.toLowerCase())
      .filter((row) => type === undefined || row.types.includes(type))
      .filter((row) => available === undefined || row.available === available)
      .filter((row) => source === undefined || row.source === source)
      .filter((row) => connection_id === undefined || row.connection_id === connection_id)
    return { object: 'list', data }
  },
})
