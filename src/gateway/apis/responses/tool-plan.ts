import type { ChatCall } from '#gateway/call/chat-calls.ts'
import { isOwnOpenAi, type Need, type Route, type Routes } from '#gateway/call/routes.ts'
import { objectOf, textOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalid } from '../chat-parts.ts'
import type { ResponsePlan } from './response-plan.ts'
import { type ResponseTools, searchToolName } from './response-tools.ts'
import { upstreamFormat } from './upstream-format.ts'

/**
 * Who runs the tools that the caller does not run: OpenAI itself (`upstream`), or this server by its search engine
 * (`engine`).
 */
export type SearchRunner = 'upstream' | 'engine'

/** How the tools that the caller does not run are handled. */
export interface ToolPlan {
  /** null when none are run. */
  readonly runner: SearchRunner | null
  readonly tools: ResponseTools
  /** Types of the tools that were left out. */
  readonly ignored: readonly string[]
}

/**
 * Decides who runs the web search and OpenAI's hosted tools for a request: OpenAI for its own models; otherwise this
 * server's search engine runs the search, and other tools are left out.
 *
 * @throws {ServiceError} `not_found` for vector stores that only OpenAI could have; `bad_request` with `tools` when the request forces a tool that is not available; also the
 * errors of `Routes.resolve`, such as `model_not_found`; `invalid_field` for a tool without which the answer would be wrong.
 */
export const planTools = async (
  { routes, hasEngine }: { readonly routes: Routes; readonly hasEngine: boolean },
  request: { readonly project: string; readonly model: string; readonly need: Need },
  { tools, toolChoice, request: { tools: sent } }: Pick<ResponsePlan, 'tools' | 'toolChoice' | 'request'>,
): Promise<ToolPlan> => {
  const { search, hosted } = tools
  if (search === null && hosted.length === 0) return { runner: null, tools, ignored: [] }
  const [first] = await routes.resolve(request.project, request.model, request.need)
  if (first !== undefined && searchesItself(first)) return { runner: 'upstream', tools, ignored: [] }
  if (tools.foreignStores !== null) {
    const message = 'There is no such vector store on this server. Name knowledge bases by their ids (kb_… or vs_…).'
    throw new ServiceError('not_found', { param: `${tools.foreignStores}[0]`, message })
  }
  const others = hosted.map(({ type }) => textOf(type))
  refuseNeeded(sent)
  const forced = textOf(objectOf(objectOf(toolChoice).function).name)
  if (others.includes(forced)) throw noSearch(`${forced} is not available for this model.`)
  if (search === null || hasEngine) {
    return { runner: search === null ? null : 'engine', tools: { ...tools, hosted: [] }, ignored: others }
  }
  if (forced === searchToolName) {
    throw noSearch(`${search.path}: no web search is configured on this server.`)
  }
  return { runner: null, tools: { ...tools, search: null, hosted: [] }, ignored: [textOf(search.tool.type), ...others] }
}

/** A model without this tool makes up what the code would have computed. @throws {ServiceError} `invalid_field` */
const refuseNeeded = (tools: ResponsePlan['request']['tools']): void => {
  const at = tools?.findIndex(({ type }) => type === 'code_interpreter') ?? -1
  if (at >= 0)
    throw invalid(`tools[${at}].type`, 'must not be code_interpreter: only OpenAI runs it, for its own models')
}

/** Returns the format for routes that run the search themselves; refuses fallbacks to other routes. */
export const upstreamFormatFor: NonNullable<ChatCall['formatFor']> = (route) => {
  if (searchesItself(route)) return upstreamFormat
  throw noSearch('No available provider supports web search.')
}

/** Whether a route is OpenAI itself, or the address that the installation configures for OpenAI. */
const searchesItself = ({ provider, format, source, baseUrl }: Route): boolean =>
  provider === 'openai' && format === 'openai' && (source === 'managed' || isOwnOpenAi(baseUrl))

const noSearch = (message: string): ServiceError => new ServiceError('bad_request', { param: 'tools', message })
