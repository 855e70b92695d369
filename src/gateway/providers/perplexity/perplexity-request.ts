import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import { responseItems, responseTool } from '../response-items.ts'

/** Perplexity's own model, which replaces all of its earlier ones; presets set how thoroughly it searches. */
const ownModel = 'perplexity/sonar'

/** Preset that replaces each earlier model, according to Perplexity's migration guide. */
const presets: Readonly<Record<string, string>> = {
  sonar: 'fast',
  'sonar-pro': 'fast',
  'sonar-reasoning': 'low',
  'sonar-reasoning-pro': 'low',
  'sonar-deep-research': 'high',
}

/** Search filters: top-level fields in chat completions, fields of the search tool in the Agent API. */
const filters = [
  'search_domain_filter',
  'search_recency_filter',
  'search_after_date_filter',
  'search_before_date_filter',
  'last_updated_after_filter',
  'last_updated_before_filter',
]

/** Converts a chat request for the Agent API. The API rejects unknown fields, so none are passed through. */
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

/** With a preset alone, another provider's model may respond. Naming Perplexity's own model as well prevents that. */
const modelOf = (model: string): WireObject => {
  const preset = presets[model]
  return preset === undefined ? { model } : { model: ownModel, preset }
}

/** A preset includes web search unless the request names tools; then web search has to be named among them. */
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
