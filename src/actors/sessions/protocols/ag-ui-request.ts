import { isObject } from '#runtime/index.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { BodyOf } from '#specs/index.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import type { CallDecision } from './decide-calls.ts'
import { type PlacedInput, type PlacedPart, placedImage, placedInput, placedText } from './placed-input.ts'

type Body = BodyOf<'ag_ui.run'>
type Message = Body['messages'][number]

/** What a page with AG-UI requests. */
export interface AgUiRequest {
  /** The new message of the user; null for none. */
  readonly input: (PlacedInput & { readonly id: string }) | null
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
  return {
    input: inputOf(written),
    outputs: tail.flatMap(({ message, place }) => (message.role === 'tool' ? [outputOf(message, place)] : [])),
    answers: resume.map((entry, at) => answerOf(entry, `resume[${at}]`)),
  }
}

const inputOf = (written: readonly { readonly message: Message; readonly place: string }[]): AgUiRequest['input'] => {
  const last = written.at(-1)
  if (last === undefined) return null
  const given = written.map(({ message, place }) => partsOf(message.content, `${place}.content`))
  const fresh = given.map((parts) => parts.filter((part) => !isStored(part))).filter((parts) => parts.length > 0)
  if (fresh.length === 0 && given.some((parts) => parts.length > 0)) return null
  const input = placedInput(fresh)
  if (input.text !== '' || input.parts.length > 0) return { id: last.message.id, ...input }
  throw invalidField(`${last.place}.content`, 'The message has no text.')
}

/** Whether it is an image that the session has, which a page gives back with its message: the model sees it in its turn. */
const isStored = ({ part }: PlacedPart): boolean => /^img_/.test(`${part.file_id}`)

const partsOf = (content: Json | undefined, place: string): readonly PlacedPart[] => {
  if (typeof content === 'string') return [placedText(content, place)]
  if (!Array.isArray(content)) throw invalidField(place, 'It must be a text or a list of parts.')
  return content.map((part, at) => partOf(isObject(part) ? part : {}, `${place}[${at}]`))
}

const partOf = ({ type, text, source, mimeType, url, data, id }: JsonObject, at: string): PlacedPart => {
  if (type === 'text' && typeof text === 'string') return placedText(text, at)
  if (type === 'image' && isObject(source)) return imageOf(source, at)
  // before version 1.0
  if (type === 'binary') {
    const [kind, value] = data ? ['data', data] : url ? ['url', url] : ['file', id]
    return imageOf({ type: kind, value: value ?? null, mimeType: mimeType ?? null }, at)
  }
  throw invalidField(at, 'A turn takes texts and images, and no other files.')
}

const imageOf = ({ type, value = '', mimeType }: JsonObject, at: string): PlacedPart => {
  if (type === 'file') return { at, part: { type: 'input_image', file_id: value } }
  const media = type === 'url' ? (mimeType ?? 'image/*') : mimeType
  return placedImage(media, type === 'data' ? `data:${media};base64,${value}` : value, at)
}

const textOf = (content: Json | undefined, place: string): string => {
  const { text, parts } = placedInput([partsOf(content, place)])
  const file = parts.find(({ part }) => part.type !== 'input_text')
  if (file !== undefined) throw invalidField(file.at, 'The output of a tool has text only.')
  return text
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
