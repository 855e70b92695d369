import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { Json, JsonObject } from '#storage/index.ts'

/** A part of a turn's input, and its place in the request of the client of another product. */
export interface PlacedPart {
  readonly at: string
  readonly part: JsonObject
}

/** The input of a turn: its text, and all parts if there are others than texts; else none. */
export interface PlacedInput {
  readonly text: string
  readonly parts: readonly PlacedPart[]
}

/** A part with a text. */
export const placedText = (text: string, at: string): PlacedPart => ({ at, part: { type: 'input_text', text } })

/** A part with an image at an address or in a data URL. @throws {ServiceError} `invalid_field` for media of another type */
export const placedImage = (mediaType: Json | undefined, image_url: Json | undefined, at: string): PlacedPart => {
  if (typeof mediaType === 'string' && mediaType.startsWith('image/') && typeof image_url === 'string')
    return { at, part: { type: 'input_image', image_url } }
  throw invalidField(at, 'A turn takes texts and images, with their media type, and no other files.')
}

/** Joins the parts of messages. Texts of a message that follow each other are one; empty ones, as pages send beside images, are none. */
export const placedInput = (messages: readonly (readonly PlacedPart[])[]): PlacedInput => {
  const joined = messages.flatMap((message) => message.reduce<readonly PlacedPart[]>(withPart, []))
  const parts = joined.filter(({ part }) => part.text !== '')
  const texts = parts.flatMap(({ part: { text } }) => (typeof text === 'string' ? [text] : []))
  return { text: texts.join('\n\n'), parts: texts.length === parts.length ? [] : parts }
}

const withPart = (before: readonly PlacedPart[], next: PlacedPart): readonly PlacedPart[] => {
  const last = before.at(-1)
  const [one, other] = [last?.part.text, next.part.text]
  if (last === undefined || typeof one !== 'string' || typeof other !== 'string') return [...before, next]
  return [...before.slice(0, -1), placedText(one + other, last.at)]
}

/** The input of a turn as `sessions.turns` takes it. */
export const turnInputOf = ({ text, parts }: PlacedInput): string | JsonObject[] =>
  parts.length === 0 ? text : parts.map(({ part }) => part)

/** Names in an error about a part of the input its place in the request. */
export const inPlace =
  ({ parts }: PlacedInput) =>
  (error: unknown): never => {
    const param = error instanceof ServiceError ? (error.details.param ?? '') : ''
    const [named = '', index] = /^input\[(\d+)\][.\w]*/.exec(param) ?? []
    const place = parts[Number(index)]?.at
    if (!(error instanceof ServiceError) || index === undefined || place === undefined) throw error
    const { code, message, details } = error
    throw new ServiceError(code, { ...details, param: place, message: message.replace(named, place), cause: error })
  }
