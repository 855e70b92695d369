import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { CachePolicy } from '../call/reuse.ts'

/** Tools that the caller runs itself; others act, or read what changes. */
const callersTools: ReadonlySet<unknown> = new Set(['function', 'custom'])

/**
 * Whether the answer to a request may be stored: not when it is to vary, depends on more than the request, or is no text.
 */
export const isCacheable = (body: WireObject, { anyTemperature }: Pick<CachePolicy, 'anyTemperature'>): boolean => {
  const { temperature, tools, web_search_options, plugins, audio, modalities, messages } = body
  if (typeof temperature === 'number' && temperature > 0 && !anyTemperature) return false
  if ([web_search_options, plugins, audio].some(isGiven)) return false
  if (arrayOf(modalities).some((each) => each !== 'text')) return false
  if (!arrayOf(tools).every((tool) => callersTools.has(objectOf(tool).type))) return false
  return !arrayOf(messages).some((message) => arrayOf(objectOf(message).content).some(isElsewhere))
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Whether a part of a message names a document that is stored elsewhere, where it may change. */
const isElsewhere = (part: unknown): boolean => {
  const { type, text: _text, ...named } = objectOf(part)
  if (type === 'text' || type === undefined) return false
  return Object.values(named).some((value) => refersTo(value) || Object.values(objectOf(value)).some(refersTo))
}

const refersTo = (value: unknown): boolean => typeof value === 'string' && /^(?:https?|s3|gs):|^file[-_]/i.test(value)

/**
 * Whether an answer is complete and nothing but text: not cut, filtered or refused, and without tool calls. Answers without
 * choices (vectors, scores) are.
 */
export const isComplete = ({ choices, error }: WireObject): boolean =>
  !isGiven(error) &&
  (choices === undefined || (arrayOf(choices).length > 0 && arrayOf(choices).every(isCompleteChoice)))

const isCompleteChoice = (choice: unknown): boolean => {
  const { finish_reason, message } = objectOf(choice)
  const { tool_calls, function_call, refusal, audio, images } = objectOf(message)
  if (finish_reason !== 'stop' || isObject(function_call) || isObject(audio)) return false
  return textOf(refusal) === '' && arrayOf(tool_calls).length === 0 && arrayOf(images).length === 0
}
