import { isObject } from '#runtime/index.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { BodyOf } from '#specs/index.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import type { CallDecision } from './decide-calls.ts'
import { type PlacedInput, placedImage, placedInput, placedText } from './placed-input.ts'

/** What a page with Vercel's AI SDK requests. */
export type UiRequest =
  | { readonly kind: 'input'; readonly input: PlacedInput }
  | { readonly kind: 'repeat' }
  | {
      readonly kind: 'continue'
      readonly messageId: string
      readonly decisions: readonly CallDecision[]
      /** Ids of all calls of the message. */
      readonly calls: readonly string[]
    }

type Body = BodyOf<'ui_messages.send'>
type Message = Body['messages'][number]

/** Most decisions of a request. */
const maxDecisions = 128

/**
 * Reads the latest message of a page; the session has the others. Pure.
 *
 * @throws {ServiceError} `invalid_field`, with the place of what a session cannot take.
 */
export const uiRequest = ({ messages, trigger, messageId }: Body): UiRequest => {
  if (trigger === 'regenerate-message') return { kind: 'repeat' }
  const named = messageId === undefined ? -1 : messages.findIndex(({ id }) => id === messageId)
  const at = named < 0 ? messages.length - 1 : named
  const place = `messages[${at}]`
  const message = messages[at]
  if (message?.role === 'assistant') return continuation(message, place)
  if (message?.role !== 'user')
    throw invalidField(`${place}.role`, 'The last message must be from the user or the assistant.')
  if (messageId !== undefined)
    throw invalidField('messageId', 'The log of a session keeps its messages: fork the session to replace one.')
  return { kind: 'input', input: inputOf(message, place) }
}

const inputOf = ({ parts }: Message, place: string): PlacedInput => {
  const placed = parts.flatMap((part, index) => {
    const at = `${place}.parts[${index}]`
    if (part.type === 'file') return [placedImage(part.mediaType, part.url, at)]
    if (part.type !== 'text') return []
    if (typeof part.text !== 'string') throw invalidField(`${at}.text`, 'The text of a part must be a string.')
    return [placedText(part.text, at)]
  })
  const input = placedInput([placed])
  if (input.text === '' && input.parts.length === 0) throw invalidField(`${place}.parts`, 'The message has no text.')
  return input
}

const continuation = ({ id, parts }: Message, place: string): UiRequest => {
  const step = parts.findLastIndex(({ type }) => type === 'step-start')
  const decisions = parts.flatMap((part, at) =>
    isOpen(part, at > step) ? decisionsOf(part, `${place}.parts[${at}]`) : [],
  )
  if (decisions.length === 0)
    throw invalidField(`${place}.parts`, 'The message has no decision and no output of a tool.')
  if (decisions.length > maxDecisions)
    throw invalidField(`${place}.parts`, `A request has at most ${maxDecisions} decisions.`)
  const calls = parts.flatMap(({ toolCallId }) => (typeof toolCallId === 'string' ? [toolCallId] : []))
  return { kind: 'continue', messageId: id, decisions, calls }
}

/** Whether a part may have a decision: an answered approval in any step, an output only in the last one. */
const isOpen = ({ state }: JsonObject, isLast: boolean): boolean => isLast || state === 'approval-responded'

/** The decision that a part has: an answered approval, or the output of a tool that the page ran. */
const decisionsOf = (part: JsonObject, place: string): readonly CallDecision[] => {
  const { type, state, approval, output = null, errorText = null } = part
  if (typeof type !== 'string' || !(type.startsWith('tool-') || type === 'dynamic-tool')) return []
  const call = () => ({ action_id: callOf(part, place), param: `${place}.toolCallId` })
  if (state === 'approval-responded') {
    const approved = isObject(approval) ? approval.approved : undefined
    if (typeof approved !== 'boolean') throw invalidField(`${place}.approval.approved`, 'It must be true or false.')
    return [{ ...call(), approved }]
  }
  if (state === 'output-available') return [{ ...call(), approved: true, output: outputText(output) }]
  if (state === 'output-error') return [{ ...call(), approved: true, output: outputText({ error: errorText }) }]
  return []
}

const callOf = ({ toolCallId }: JsonObject, place: string): string => {
  if (typeof toolCallId === 'string' && toolCallId !== '' && toolCallId.length <= 128) return toolCallId
  throw invalidField(`${place}.toolCallId`, 'It must be the id of a tool call.')
}

const outputText = (output: Json): string => (typeof output === 'string' ? output : JSON.stringify(output))
