import { isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { fillArguments } from './arguments.ts'
import { exactPhrase, fieldsPhrase } from './phrases.ts'

/** Longest beginning of a prompt that is searched for a schema, in characters. */
const maxSearched = 64 * 1024
const maxAttempts = 32

/**
 * Answers a prompt that states the form of the answer: `reply exactly: …`; fields between `[[ ## … ## ]]` (DSPy); or a
 * JSON Schema, as written by clients without structured outputs. Null for any other prompt.
 *
 * @param all all texts of the request, including instructions.
 * @param last the last text of the user, and the part of it that is looked at.
 */
export const promptedAnswer = (
  all: string,
  { input, prompt }: { readonly input: string; readonly prompt: string },
): string | null => exactly(input) ?? markedFields(all, prompt) ?? schemaAnswer(all, prompt)

const exactly = (input: string): string | null => {
  const end = input.length - maxOrder
  const late = input.slice(Math.max(0, end)).toLowerCase().lastIndexOf(exactPhrase)
  const at = late < 0 ? input.slice(0, maxOrder).toLowerCase().lastIndexOf(exactPhrase) : late + Math.max(0, end)
  return at < 0 ? null : input.slice(at + exactPhrase.length).trim()
}

/** Returns every field from the first required one up to `completed`, with the types stated after their names. */
const markedFields = (input: string, prompt: string): string | null => {
  const order = input.lastIndexOf(fieldsPhrase)
  if (order < 0) return null
  const named = [...input.slice(order, order + maxOrder).matchAll(markedField)]
  const types = new Map(named.map(([, name = '', type = '']) => [name, type]))
  types.delete('completed')
  if (types.size === 0) return null
  const question = (prompt.split(beforeFields)[0] ?? '').replaceAll(/\[\[ ## \w{1,64} ## \]\]/g, '').trim()
  const answered = [...types].map(([name, type]) => `[[ ## ${name} ## ]]\n${pythonValue(name, type, question)}`)
  return `${answered.join('\n\n')}\n\n[[ ## completed ## ]]`
}

const maxOrder = 4096
const beforeFields = /Respond with the corresponding output fields|Respond with the fields|starting with the field/
const markedField = /\[\[ ## (\w{1,64}) ## \]\]`?(?: \(must be formatted as a valid Python ([^)\n]{1,400})\))?/g

/** Returns a value in Python syntax, filled from the question in the same way as tool arguments. */
const pythonValue = (name: string, type: string, question: string): string => {
  if (type.startsWith('list')) return '[]'
  if (type.startsWith('dict')) return '{}'
  const schema = pythonSchema(type)
  if (schema === null) return question.slice(0, 200)
  const value = String(fillArguments({ properties: { [name]: schema } }, question, '')[name])
  return type === 'bool' ? `${value.charAt(0).toUpperCase()}${value.slice(1)}` : value
}

const pythonSchema = (type: string): WireObject | null => {
  if (type.startsWith('Literal')) return { enum: [...type.matchAll(/'([^']{1,100})'/g)].map(([, one = '']) => one) }
  const names = { int: 'integer', float: 'number', bool: 'boolean' }
  const found = Object.entries(names).find(([python]) => python === type)
  return found === undefined ? null : { type: found[1] }
}

const schemaAnswer = (input: string, prompt: string): string | null => {
  const schema = schemaIn(input.slice(0, maxSearched))
  if (schema === null) return null
  const json = JSON.stringify(fillArguments(schema, withoutJson(prompt), ''))
  return /```(?:json)?/i.test(input) ? `\`\`\`json\n${json}\n\`\`\`` : json
}

/** Returns the first JSON object in a text that is a schema of an object. */
const schemaIn = (text: string): WireObject | null => {
  if (!text.includes('"properties"')) return null
  let attempts = 0
  for (let at = text.indexOf('{'); at >= 0 && attempts < maxAttempts; at = text.indexOf('{', at + 1), attempts++) {
    const found = parseJson(text.slice(at, endOfObject(text, at)))
    if (isObject(found) && isObject(found.properties)) return found
  }
  return null
}

const endOfObject = (text: string, from: number): number => {
  let depth = 0
  let inText = false
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (inText && character === '\\') at++
    else if (character === '"') inText = !inText
    else if (!inText && character === '{') depth++
    else if (!inText && character === '}' && --depth === 0) return at + 1
  }
  return text.length
}

/** Returns the prompt without the schema. */
const withoutJson = (prompt: string): string => {
  const from = prompt.indexOf('{')
  return from < 0 ? prompt : `${prompt.slice(0, from)} ${prompt.slice(endOfObject(prompt, from))}`
}

/** Returns all texts of a conversation, in order. */
export const textsOf = (messages: readonly unknown[], text: (content: unknown) => string): string =>
  messages.map((message) => text(objectOf(message).content) || textOf(objectOf(message).content)).join('\n')
