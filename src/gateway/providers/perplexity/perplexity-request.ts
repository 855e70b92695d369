import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import { responseItems, responseTool } from '../response-items.ts'

/** Perplexity's own model, which all of its former ones are now: they differ by how hard they search. */
const ownModel = 'perplexity/sonar'

/** What takes the place of each former model, as Perplexity's guide to migration says. */
const presets: Readonly<Record<string, string>> = {
  sonar: 'fast',
  'sonar-pro': 'fast',
  'sonar-reasoning': 'low',
  'sonar-reasoning-pro': 'low',
  'sonar-deep-research': 'high',
}

/** Filters of the search, which were fields of the request. */
const filters = [
  'search_domain_filter',
  'search_recency_filter',
  'search_after_date_filter',
  'search_before_date_filter',
  'last_updated_after_filter',
  'last_updated_before_filter',
]

/** A chat request for the Agent API. It refuses fields that it does not know: none are passed on. */
export const perplexityRequest = (body: WireObject, model: string, stream: boolean): WireObject => {
  const { temperature, top_p, reasoning_effort, response_format } = body
  const tools = toolsOf(body)
  return given({
    ...modelOf(model),
    input: responseItems(body.messages).map((item) => ('role' in item ? { type: 'message', ...item } : item)),
    stream,
    tools: tools.length === 0 ? undefined : tools,
    max_output_tokens: body.max_completion_tokens ?? body.max_tokens,
    temperature,
    top_p,
    reasoning: efforts.has(reasoning_effort) ? { effort: reasoning_effort } : undefined,
    response_format: objectOf(response_format).type === 'json_schema' ? response_format : undefined,
  })
}

/** A preset alone may be answered by another provider's model: a former name stays with Perplexity's own. */
const modelOf = (model: string): WireObject => {
  const preset = presets[model]
  return preset === undefined ? { model } : { model: ownModel, preset }
}

/** The preset brings its search along, unless tools are named: then search is one of them. */
const toolsOf = (body: WireObject): readonly WireObject[] => {
  const functions = arrayOf(body.tools).map(responseTool)
  const chosen = Object.fromEntries(filters.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]])))
  const { user_location } = objectOf(body.web_search_options)
  const isFiltered = Object.keys(chosen).length > 0
  if (functions.length === 0 && !isFiltered && user_location == null) return []
  const search = given({ type: 'web_search', filters: isFiltered ? chosen : undefined, user_location })
  return [search, ...functions]
}

const efforts: ReadonlySet<unknown> = new Set(['low', 'medium', 'high'])

const given = (fields: WireObject): WireObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
