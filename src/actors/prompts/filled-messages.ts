import { invalid, missing } from '#specs/errors/invalid-field.ts'
import type { PromptReference } from '#specs/resources/gateway/shapes/prompt-shapes.ts'
import type { JsonObject } from '#storage/index.ts'
import type { PromptTemplate } from './kinds.ts'

type Values = NonNullable<PromptReference['variables']>
type Message = PromptTemplate['messages'][number]

/** A variable in a text. Bounded, so that a text without closing braces costs no more than its length. */
const placeholder = /\{\{ {0,8}([A-Za-z_][A-Za-z0-9_.-]{0,63}) {0,8}\}\}/g

/** Maximum number of characters of messages with their variables: as many as the body of a chat has at most. */
const maxFilledChars = 8 * 1024 * 1024

/** The names of the variables in the messages of a prompt, each once. */
export const variablesOf = (messages: readonly Message[]): readonly string[] => [
  ...new Set(messages.flatMap(({ content }) => [...content.matchAll(placeholder)].map(([, name = '']) => name))),
]

/**
 * Replaces the variables of a prompt's messages. A value is inserted as it is: variables within values are text.
 *
 * @param param path of the values in the request, for errors.
 * @throws {ServiceError} `missing_field` for a variable without a value; `invalid_field` for one that the prompt does not have,
 *   for a content part in a message that is not the user's, and for values that make the messages too long.
 */
export const filledMessages = (
  { messages, variables: defaults = {} }: PromptTemplate,
  given: Values = {},
  param = 'prompt.variables',
): readonly JsonObject[] => {
  const names = new Set(variablesOf(messages))
  const unknown = Object.keys(given).find((name) => !names.has(name))
  if (unknown !== undefined) throw invalid(`${param}.${unknown}`, 'is no variable of this version of the prompt')
  const values = new Map<string, string | JsonObject>([...Object.entries(defaults), ...Object.entries(given)])
  const absent = [...names].find((name) => !values.has(name))
  if (absent !== undefined) throw missing(`${param}.${absent}`)
  if (filledLength(messages, values) > maxFilledChars)
    throw invalid(param, `must not make the messages of the prompt longer than ${maxFilledChars} characters`)
  return messages.map((message) => filled(message, values, param))
}

const filledLength = (messages: readonly Message[], values: ReadonlyMap<string, string | JsonObject>): number => {
  const lengths = new Map(
    Array.from(values, ([name, value]) => [name, (typeof value === 'string' ? value : JSON.stringify(value)).length]),
  )
  return messages.reduce((sum, { content }) => {
    const found = Array.from(content.matchAll(placeholder), ([, name = '']) => lengths.get(name) ?? 0)
    return found.reduce((total, length) => total + length, sum + content.length)
  }, 0)
}

const filled = (
  { role, content }: Message,
  values: ReadonlyMap<string, string | JsonObject>,
  param: string,
): JsonObject => {
  const parts: JsonObject[] = []
  let text = ''
  let end = 0
  for (const found of content.matchAll(placeholder)) {
    const [whole, name = ''] = found
    const value = values.get(name) ?? ''
    text += content.slice(end, found.index)
    end = found.index + whole.length
    if (typeof value === 'string') text += value
    else if (role === 'user') {
      parts.push({ type: 'input_text', text }, value)
      text = ''
    } else throw invalid(`${param}.${name}`, `must be text: it is used in a message of the role ${role}`)
  }
  text += content.slice(end)
  if (parts.length === 0) return { type: 'message', role, content: text }
  const all = [...parts, { type: 'input_text', text }].filter((part) => part.type !== 'input_text' || part.text !== '')
  return { type: 'message', role, content: all }
}
