import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { answerSchema } from '../answer-schema.ts'
import { type OfferedFunctions, offeredFunctions } from '../chat-tools.ts'
import { googleDialogue } from './google-contents.ts'
import { type GoogleModel, googleModel } from './google-model.ts'
import { thinkingConfig } from './google-thinking.ts'

/** Maximum stop sequences that the format accepts. */
const maxStopSequences = 5

/**
 * Field of a chat request with what only Google's format can express, as the caller wrote it: `safetySettings`,
 * `cachedContent`, `thinkingConfig`, and Google's own `tools`.
 */
export const googleField = 'google_request'

/** Builds a `generateContent` body. @throws {ServiceError} `invalid_field` for what the format cannot express. */
export function googleRequest(body: ChatBody, id: string): WireObject {
  if (arrayOf(body.modalities).some((modality) => modality !== 'text')) {
    throw invalidField('modalities', 'This provider returns only text here.')
  }
  const model = googleModel(id)
  const { system, contents } = googleDialogue(arrayOf(body.messages), { model: id, signs: model.signs })
  const { thinkingConfig: thinking, tools: ownTools, ...own } = objectOf(body[googleField])
  const generationConfig = {
    ...generationConfigOf(body, model),
    ...(isObject(thinking) && { thinkingConfig: thinking }),
  }
  const offered = toolFields(offeredFunctions(body))
  const tools = [...arrayOf(offered.tools), ...arrayOf(ownTools)]
  return {
    contents,
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    ...offered,
    ...(tools.length === 0 ? {} : { tools }),
    ...own,
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
  }
}

function toolFields({ functions, choice }: OfferedFunctions): WireObject {
  if (functions.length === 0) return {}
  const functionDeclarations = functions.map(({ name, description, parameters }) => ({
    name,
    ...(description === null ? {} : { description }),
    ...(parameters === null ? {} : { parametersJsonSchema: parameters }),
  }))
  const tools = [{ functionDeclarations }]
  if (choice === null) return { tools }
  const names = choice.kind === 'function' ? { allowedFunctionNames: [choice.name] } : {}
  return { tools, toolConfig: { functionCallingConfig: { mode: modes[choice.kind], ...names } } }
}

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY', function: 'ANY' } as const

function generationConfigOf(body: ChatBody, model: GoogleModel): WireObject {
  const stop = typeof body.stop === 'string' ? [body.stop] : arrayOf(body.stop).map(textOf)
  const stopSequences = stop.filter((each) => each !== '').slice(0, maxStopSequences)
  const thinking = thinkingConfig(body.reasoning_effort, model)
  return {
    ...(model.sampling ? numbers({ temperature: body.temperature, topP: body.top_p, topK: body.top_k }) : {}),
    ...numbers({
      maxOutputTokens: maxTokensOf(body, model),
      candidateCount: body.n === 1 ? undefined : body.n,
      seed: body.seed,
      presencePenalty: body.presence_penalty,
      frequencyPenalty: body.frequency_penalty,
    }),
    ...(stopSequences.length === 0 ? {} : { stopSequences }),
    ...formOf(body),
    ...(thinking === null ? {} : { thinkingConfig: thinking }),
  }
}

function maxTokensOf(body: ChatBody, { maxOutput }: GoogleModel): unknown {
  const requested = body.max_completion_tokens ?? body.max_tokens
  return typeof requested === 'number' && maxOutput !== null ? Math.min(requested, maxOutput) : requested
}

function formOf(body: ChatBody): WireObject {
  const wanted = answerSchema(body)
  if (wanted === null) return {}
  const schema = wanted.schema === null ? {} : { responseJsonSchema: wanted.schema }
  return { responseMimeType: 'application/json', ...schema }
}

const numbers = (fields: WireObject): WireObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'number'))
