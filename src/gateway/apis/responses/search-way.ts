import type { ChatCall } from '#gateway/call/chat-calls.ts'
import type { Need, Route, Routes } from '#gateway/call/routes.ts'
import { isOwnOpenAi } from '#gateway/routing/managed-providers.ts'
import { objectOf, textOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResponsePlan } from './response-plan.ts'
import { type ResponseTools, searchToolName } from './response-tools.ts'
import { upstreamFormat } from './upstream-format.ts'

/** Who runs the tools of a response that its caller does not: OpenAI itself, or an engine of this server that searches. */
export type SearchWay = 'upstream' | 'engine'

/** What becomes of the tools that the caller does not run. */
export interface ToolWay {
  /** null: no one runs any. */
  readonly way: SearchWay | null
  readonly tools: ResponseTools
  /** Types of those that were left out. */
  readonly ignored: readonly string[]
}

/**
 * Who runs the search and OpenAI's other tools for a request: OpenAI for its own models; for others an engine searches, and
 * what no one runs is left out.
 *
 * @throws {ServiceError} `bad_request` with `tools` for a search that the request forces and no one runs; `model_not_found` and the like.
 */
export const toolWay = async (
  { routes, hasEngine }: { readonly routes: Routes; readonly hasEngine: boolean },
  request: { readonly project: string; readonly model: string; readonly need: Need },
  { tools, toolChoice }: Pick<ResponsePlan, 'tools' | 'toolChoice'>,
): Promise<ToolWay> => {
  const { search, hosted } = tools
  if (search === null && hosted.length === 0) return { way: null, tools, ignored: [] }
  const [first] = await routes.resolve(request.project, request.model, request.need)
  if (first !== undefined && searchesItself(first)) return { way: 'upstream', tools, ignored: [] }
  const others = hosted.map(({ type }) => textOf(type))
  const forced = textOf(objectOf(objectOf(toolChoice).function).name)
  if (others.includes(forced)) throw noSearch(`${forced} is not available for this model.`)
  if (search === null || hasEngine) {
    return { way: search === null ? null : 'engine', tools: { ...tools, hosted: [] }, ignored: others }
  }
  if (forced === searchToolName) {
    throw noSearch(`${search.path}: no web search is configured on this server.`)
  }
  return { way: null, tools: { ...tools, search: null, hosted: [] }, ignored: [textOf(search.tool.type), ...others] }
}

/** The format for routes that search themselves; a fallback to others is refused. */
export const upstreamFormatFor: NonNullable<ChatCall['formatFor']> = (route) => {
  if (searchesItself(route)) return upstreamFormat
  throw noSearch('No available provider supports web search.')
}

/** OpenAI's own models, at OpenAI or where the installation says that OpenAI is. */
const searchesItself = ({ provider, format, source, baseUrl }: Route): boolean =>
  provider === 'openai' && format === 'openai' && (source === 'managed' || isOwnOpenAi(baseUrl))

const noSearch = (message: string): ServiceError => new ServiceError('bad_request', { param: 'tools', message })
