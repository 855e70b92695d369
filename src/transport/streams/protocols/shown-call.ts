import type { Approves } from '#actors/call/call.ts'
import { isObject } from '#runtime/index.ts'
import type { Json, JsonObject } from '#storage/index.ts'

/** Whether the reader of `turn.paused` may approve its call. */
export const decidesHere = ({ approver }: JsonObject, approves: Approves): boolean =>
  approves === 'every' || (approves === 'end_user' && approver === 'end_user')

/** A field that is a text; '' if it is none. */
export const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Outputs longer than this stay texts: parsing them would hold the event loop. */
const maxParsed = 64 * 1024

/** The value that an output's text is the JSON of, for objects and lists; the text otherwise. */
export const outputValue = (output: Json | undefined): Json => {
  const given = text(output)
  if (!/^[[{]/.test(given) || given.length > maxParsed) return given
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

/** The objects of a field that is a list. */
export const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []
