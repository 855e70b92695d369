import type { ChatCall } from '#gateway/call/chat-calls.ts'
import type { Need, Route, Routes } from '#gateway/call/routes.ts'
import { isOwnOpenAi } from '#gateway/routing/managed-providers.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { SearchTool } from './response-tools.ts'
import { upstreamFormat } from './upstream-format.ts'

/** Who runs the search of a response: OpenAI itself, or an engine of this server. */
export type SearchWay = 'upstream' | 'engine'

/**
 * Who searches for a request that asks for it. OpenAI does for its own models, an engine for all others.
 *
 * @throws {ServiceError} `bad_request` with `tools` when nobody does; `model_not_found` and the like.
 */
export const searchWay = async (
  { routes, hasEngine }: { readonly routes: Routes; readonly hasEngine: boolean },
  target: { readonly project: string; readonly model: string; readonly need: Need },
  { path }: SearchTool,
): Promise<SearchWay> => {
  const [first] = await routes.resolve(target.project, target.model, target.need)
  if (first !== undefined && searchesItself(first)) return 'upstream'
  if (hasEngine) return 'engine'
  throw noSearch(`${path}: no web search is configured on this server.`)
}

/** The format for routes that search themselves; a fallback to others is refused. */
export const upstreamFormatFor: NonNullable<ChatCall['formatFor']> = (route) => {
  if (searchesItself(route)) return upstreamFormat
  throw noSearch('No provider that can be reached searches the web.')
}

/** OpenAI's own models, at OpenAI or where the installation says that OpenAI is. */
const searchesItself = ({ provider, format, source, baseUrl }: Route): boolean =>
  provider === 'openai' && format === 'openai' && (source === 'managed' || isOwnOpenAi(baseUrl))

const noSearch = (message: string): ServiceError => new ServiceError('bad_request', { param: 'tools', message })
