import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { googleField } from '#gateway/providers/google/google-request.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { given, invalid, needText } from '../chat-parts.ts'
import { GeminiContents } from './gemini-contents.ts'
import { camelled } from './gemini-names.ts'
import { jsonSchemaOf } from './gemini-schema.ts'

/** Properties of the first route that determine how a request is converted. */
export interface GeminiTraits {
  /** Whether Google serves the call: then it also gets what other formats cannot express. */
  readonly own: boolean
  /** Whether the model reasons, true when unknown: other models refuse `reasoning_effort`. */
  readonly reasons: boolean
}

/** A request in the form of chat completions. */
export interface GeminiChat {
  readonly body: ChatBody
  /** Names of Google's own tools that were left out because another provider serves the call. */
  readonly ignored: readonly string[]
  /** Whether the caller wants to see what the model thought. */
  readonly showsThoughts: boolean
}

/**
 * Converts a request of Google's Gemini API to the form of chat completions.
 *
 * @throws {ServiceError} `missing_field`, `invalid_field`, `bad_request`
 */
export const geminiChat = (model: string, sent: WireObject, { own, reasons }: GeminiTraits): GeminiChat => {
  const body = camelled(sent)
  const config = camelled(objectOf(body.generationConfig))
  const thinking = camelled(objectOf(config.thinkingConfig))
  const offered = toolsOf(body)
  const contents = new GeminiContents(own)
  const request = given({
    model,
    messages: [
      ...contents.system(body.systemInstruction, 'systemInstruction'),
      ...contents.messages(arrayOf(body.contents)),
    ],
    ...samplingOf(config),
    ...offered.fields,
    response_format: formatOf(config),
    reasoning_effort: reasons && !own ? effortOf(thinking) : undefined,
    [googleField]: own ? ownFields({ body, thinking, tools: offered.foreign }) : undefined,
  })
  const ignored = own ? [] : offered.foreign.flatMap((tool) => Object.keys(tool))
  return { body: request, ignored, showsThoughts: thinking.includeThoughts === true }
}

const ownFields = ({
  body: { safetySettings, cachedContent },
  thinking,
  tools,
}: {
  readonly body: WireObject
  readonly thinking: WireObject
  readonly tools: readonly WireObject[]
}): WireObject => ({
  ...{ safetySettings, cachedContent },
  thinkingConfig: Object.keys(thinking).length === 0 ? undefined : thinking,
  tools: tools.length === 0 ? undefined : tools,
})

const samplingOf = (config: WireObject): WireObject => {
  const modes = arrayOf(config.responseModalities).map((mode) => textOf(mode).toUpperCase())
  if (modes.some((mode) => mode !== 'TEXT'))
    throw invalid('generationConfig.responseModalities', 'must be TEXT: other answers have their own endpoints')
  return {
    max_tokens: config.maxOutputTokens,
    stop: arrayOf(config.stopSequences).length === 0 ? undefined : config.stopSequences,
    temperature: config.temperature,
    top_p: config.topP,
    top_k: config.topK,
    n: config.candidateCount === 1 ? undefined : config.candidateCount,
    seed: config.seed,
    presence_penalty: config.presencePenalty,
    frequency_penalty: config.frequencyPenalty,
  }
}

interface Offered {
  readonly fields: WireObject
  /** Google's own tools, one object each. */
  readonly foreign: readonly WireObject[]
}

const toolsOf = (body: WireObject): Offered => {
  const functions: WireObject[] = []
  const foreign: WireObject[] = []
  for (const [at, tool] of arrayOf(body.tools).entries()) {
    const { functionDeclarations, ...others } = camelled(objectOf(tool))
    for (const [place, each] of arrayOf(functionDeclarations).entries())
      functions.push(functionOf(camelled(objectOf(each)), `tools[${at}].functionDeclarations[${place}]`))
    for (const [name, value] of Object.entries(others)) foreign.push({ [name]: value })
  }
  const choice = camelled(objectOf(camelled(objectOf(body.toolConfig)).functionCallingConfig))
  return { fields: functions.length === 0 ? {} : chosen(functions, choice), foreign }
}

const functionOf = ({ name, description, parameters, parametersJsonSchema }: WireObject, path: string): WireObject => {
  const own = isObject(parameters) ? jsonSchemaOf(parameters) : { type: 'object', properties: {} }
  const schema = isObject(parametersJsonSchema) ? parametersJsonSchema : own
  const named = { name: needText(name, `${path}.name`), ...given({ description }) }
  return { type: 'function', function: { ...named, parameters: schema } }
}

const chosen = (functions: readonly WireObject[], { mode, allowedFunctionNames }: WireObject): WireObject => {
  const word = textOf(mode).toUpperCase()
  if (word === 'NONE') return { tools: functions, tool_choice: 'none' }
  if (word !== 'ANY') return { tools: functions, tool_choice: word === '' ? undefined : 'auto' }
  const names = arrayOf(allowedFunctionNames).map(textOf)
  const allowed = functions.filter((each) => names.length === 0 || names.includes(textOf(objectOf(each.function).name)))
  if (allowed.length === 0)
    throw invalid('toolConfig.functionCallingConfig.allowedFunctionNames', 'must name a declared function')
  return { tools: allowed, tool_choice: 'required' }
}

const formatOf = (config: WireObject): unknown => {
  const { responseMimeType: type, responseSchema, responseJsonSchema } = config
  if (textOf(type) !== 'application/json') return undefined
  const own = isObject(responseSchema) ? jsonSchemaOf(responseSchema) : null
  const schema = isObject(responseJsonSchema) ? responseJsonSchema : own
  if (schema === null) return { type: 'json_object' }
  return { type: 'json_schema', json_schema: { name: 'answer', schema } }
}

/** Budgets in tokens up to which an effort is meant, as Google's own compatible endpoint maps them. */
const efforts = [
  [1_024, 'low'],
  [8_192, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
] as const

/** Other providers have no budget of tokens, but efforts. A budget of 0 means none, -1 the model's own. */
const effortOf = ({ thinkingBudget: budget, thinkingLevel }: WireObject): string | undefined => {
  const level = textOf(thinkingLevel).toLowerCase()
  if (['minimal', 'low', 'medium', 'high'].includes(level)) return level
  if (typeof budget !== 'number' || budget < 0) return undefined
  return budget === 0 ? 'minimal' : efforts.find(([upTo]) => budget <= upTo)?.[1]
}
