import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { answerSchema } from '../answer-schema.ts'
import { type OfferedFunctions, offeredFunctions } from '../chat-tools.ts'
import { anthropicDialogue } from './anthropic-messages.ts'
import { type AnthropicModel, anthropicModel } from './anthropic-model.ts'
import { ownEffort, type Thinking, thinkingOf, thinks } from './anthropic-thinking.ts'
import { anthropicTools, ownToolsField } from './anthropic-tools.ts'
import { closedSchema } from './closed-schema.ts'

/** A request body, and the tool, if any, that the gateway added to obtain JSON. */
export interface AnthropicRequest {
  readonly body: WireObject
  /** Name of the tool whose input is the text of the response; null: the response is text. */
  readonly answerTool: string | null
}

/** Output limit for unknown models: every model supports at least this many tokens. */
const smallestMaxTokens = 4_096
const answerTool = 'answer_in_json'

/** Field of a chat request with what only Anthropic's format can express, such as `container`. */
export const ownRequestField = 'anthropic_request'

/** Builds a Messages request. @throws {ServiceError} `invalid_field` for what the format cannot express. */
export function anthropicRequest(
  body: ChatBody,
  id: string,
  { stream, model = anthropicModel(id) }: { readonly stream: boolean; readonly model?: AnthropicModel },
): AnthropicRequest {
  refuseUnsayable(body)
  const max_tokens = maxTokensOf(body, model)
  const thinking = thinkingFor(body, model, max_tokens)
  const offered = offeredFunctions(body)
  const form = formOf(body, model, { offered, thinking })
  const { system, messages } = anthropicDialogue(arrayOf(body.messages))
  const instructions = form.instruction === undefined ? system : [...system, { type: 'text', text: form.instruction }]
  const output = { ...(thinking.effort === undefined ? {} : { effort: thinking.effort }), ...form.output }
  return {
    answerTool: form.tools === undefined ? null : answerTool,
    body: {
      model: id,
      max_tokens,
      ...(stream ? { stream } : {}),
      ...(instructions.length === 0 ? {} : { system: instructions }),
      messages,
      ...(form.tools ?? anthropicTools(offered, body, model)),
      ...(thinking.thinking === undefined ? {} : { thinking: thinking.thinking }),
      ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
      ...samplingOf(body, model, thinking),
      ...plainFields(body),
    },
  }
}

function refuseUnsayable(body: ChatBody): void {
  if (typeof body.n === 'number' && body.n > 1)
    throw invalidField('n', 'This provider returns only one choice per request.')
  if (arrayOf(body.modalities).some((modality) => modality !== 'text')) {
    throw invalidField('modalities', 'This provider returns only text.')
  }
}

function maxTokensOf(body: ChatBody, { maxOutput }: AnthropicModel): number {
  const requested = body.max_completion_tokens ?? body.max_tokens
  if (typeof requested !== 'number') return maxOutput ?? smallestMaxTokens
  return Math.max(1, maxOutput === null ? requested : Math.min(requested, maxOutput))
}

/**
 * Thinking cannot be combined with a forced tool, and a thinking budget requires that the last tool calls still have
 * their thinking blocks. In both cases only the effort set by the caller is kept.
 */
function thinkingFor(body: ChatBody, model: AnthropicModel, maxTokens: number): Thinking {
  const { choice } = offeredFunctions(body)
  const thinking = thinkingOf(body, model, maxTokens)
  if (!thinks(thinking)) return thinking
  if (choice?.kind === 'required' || choice?.kind === 'function') return ownEffort(body)
  return thinking.thinking?.type === 'enabled' && callsWithoutThoughts(body) ? ownEffort(body) : thinking
}

function callsWithoutThoughts(body: ChatBody): boolean {
  const last = arrayOf(body.messages)
    .map(objectOf)
    .findLast(({ role }) => role === 'assistant')
  return arrayOf(last?.tool_calls).length > 0 && arrayOf(last?.thinking_blocks).length === 0
}

interface Form {
  readonly output?: WireObject
  readonly tools?: WireObject
  readonly instruction?: string
}

/**
 * Chooses how a JSON response is obtained. Structured outputs are used when there is a schema and the model supports
 * them; otherwise a tool that the model is forced to call; and where tools are offered or the model thinks, an
 * instruction.
 */
function formOf(
  body: ChatBody,
  model: AnthropicModel,
  { offered, thinking }: { readonly offered: OfferedFunctions; readonly thinking: Thinking },
): Form {
  const wanted = answerSchema(body)
  if (wanted === null) return {}
  const { schema } = wanted
  if (schema !== null && model.structured) {
    return { output: { format: { type: 'json_schema', schema: closedSchema(schema) } } }
  }
  const hasTools = offered.functions.length > 0 || arrayOf(body[ownToolsField]).length > 0
  if (!hasTools && model.thinking !== 'always' && !thinks(thinking)) {
    const input_schema = { ...(schema ?? { additionalProperties: true }), type: 'object' }
    const tool = { name: answerTool, description: 'Gives the answer, which is JSON.', input_schema }
    return { tools: { tools: [tool], tool_choice: { type: 'tool', name: answerTool } } }
  }
  const by = schema === null ? '' : ` that fits this JSON Schema: ${JSON.stringify(schema)}`
  return { instruction: `Answer with one JSON object${by}. Write nothing before or after it, and no code fence.` }
}

/**
 * Temperatures above 1 are capped at 1, the format's maximum. Newer models accept `temperature` or `top_p`, not both.
 */
function samplingOf(body: ChatBody, { sampling }: AnthropicModel, thinking: Thinking): WireObject {
  if (!sampling || thinks(thinking)) return {}
  const { temperature, top_p, top_k } = body
  const topK = typeof top_k === 'number' ? { top_k } : {}
  if (typeof temperature === 'number') return { temperature: Math.min(1, temperature), ...topK }
  return { ...(typeof top_p === 'number' ? { top_p } : {}), ...topK }
}

function plainFields(body: ChatBody): WireObject {
  const stop = (typeof body.stop === 'string' ? [body.stop] : arrayOf(body.stop)).filter((each) =>
    /\S/.test(textOf(each)),
  )
  const user = textOf(body.safety_identifier) === '' ? textOf(body.user) : textOf(body.safety_identifier)
  const tier = tiers[textOf(body.service_tier)]
  return {
    ...(stop.length === 0 ? {} : { stop_sequences: stop }),
    ...(user === '' ? {} : { metadata: { user_id: user } }),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(isObject(body.cache_control) ? { cache_control: body.cache_control } : {}),
    ...ownOnly(objectOf(body[ownRequestField])),
  }
}

const ownOnly = ({ container, context_management, inference_geo, speed }: WireObject): WireObject => ({
  ...(container !== undefined && { container }),
  ...(isObject(context_management) && { context_management }),
  ...(typeof inference_geo === 'string' && { inference_geo }),
  ...(typeof speed === 'string' && { speed }),
})

const tiers: Readonly<Record<string, string>> = { auto: 'auto', default: 'standard_only' }
