import { isObject } from '#runtime/index.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { BodyOf } from '#specs/index.ts'
import type { Json } from '#storage/index.ts'
import type { CallDecision } from './decide-calls.ts'

type Body = BodyOf<'ag_ui.run'>
type Message = Body['messages'][number]

/** What a page with AG-UI requests. */
export interface AgUiRequest {
  /** The new message of the user; null for none. */
  readonly input: { readonly id: string; readonly text: string } | null
  /** Messages of tools, which answer calls of the page's functions that still wait. */
  readonly outputs: readonly CallDecision[]
  /** Answers to interrupts. */
  readonly answers: readonly CallDecision[]
}

/**
 * Reads what follows the last message of the agent; the session has the others. Pure.
 *
 * @throws {ServiceError} `invalid_field`, with the place of what a session cannot take.
 */
export const agUiRequest = ({ messages, resume = [] }: Body): AgUiRequest => {
  const begin = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'reasoning') + 1
  const tail = messages.slice(begin).map((message, at) => ({ message, place: `messages[${begin + at}]` }))
  const written = tail.filter(({ message }) => message.role === 'user')
  const text = written.map(({ message, place }) => textOf(message.content, `${place}.content`)).join('\n\n')
  const last = written.at(-1)
  if (last !== undefined && text === '') throw invalidField(`${last.place}.content`, 'The message has no text.')
  return {
    input: last === undefined ? null : { id: last.message.id, text },
    outputs: tail.flatMap(({ message, place }) => (message.role === 'tool' ? [outputOf(message, place)] : [])),
    answers: resume.map((entry, at) => answerOf(entry, `resume[${at}]`)),
  }
}

const textOf = (content: Json | undefined, place: string): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw invalidField(place, 'It must be a text or a list of parts.')
  const texts = content.map((part, at) => {
    const text = isObject(part) && part.type === 'text' ? part.text : undefined
    if (typeof text !== 'string') throw invalidField(`${place}[${at}]`, 'A session takes text only, not files.')
    return text
  })
  return texts.join('')
}

const outputOf = ({ toolCallId, content, error }: Message, place: string): CallDecision => {
  const param = `${place}.toolCallId`
  if (toolCallId === undefined) throw invalidField(param, 'A message of a tool names its call.')
  const output = error === undefined ? textOf(content, `${place}.content`) : JSON.stringify({ error })
  return { action_id: toolCallId, param, approved: true, output }
}

const answerOf = (
  { interruptId, status, payload = null }: NonNullable<Body['resume']>[number],
  place: string,
): CallDecision => {
  const decision = { action_id: interruptId, param: `${place}.interruptId` }
  if (status === 'cancelled') return { ...decision, approved: false, mayBeLeft: true }
  if (payload === null || typeof payload === 'boolean') return { ...decision, approved: payload ?? true }
  if (!isObject(payload)) throw invalidField(`${place}.payload`, 'It must be an object.')
  if ('editedArgs' in payload)
    throw invalidField(`${place}.payload.editedArgs`, 'Arguments cannot be edited here: use sessions.approve.')
  const { approved } = payload
  if (approved === undefined) return { ...decision, approved: true, content: payload }
  if (typeof approved !== 'boolean') throw invalidField(`${place}.payload.approved`, 'It must be true or false.')
  return { ...decision, approved }
}
