import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { mappedJson } from './json-texts.ts'

/** Maps one text of a request. @param role of its message. */
type MapText = (text: string, role: string) => string

/** Roles whose texts the developer writes. */
const ofDeveloper: ReadonlySet<unknown> = new Set(['system', 'developer'])

/** Maps the texts of users, tools and models in the messages of a chat; returns the same messages when none changed. */
export const mappedMessages = (messages: readonly unknown[], map: MapText): readonly unknown[] => {
  const made = messages.map((message) => {
    if (!isObject(message) || ofDeveloper.has(message.role)) return message
    const role = String(message.role)
    const one = (text: string): string => map(text, role)
    // results of tools are mostly JSON
    const content = mappedContent(
      message.content,
      role === 'tool' ? (text) => mappedJson(text, one, '[REDACTED]') : one,
    )
    return content === message.content ? message : { ...message, content }
  })
  return made.some((message, at) => message !== messages[at]) ? made : messages
}

const mappedContent = (content: unknown, map: (text: string) => string): unknown => {
  if (typeof content === 'string') return map(content)
  if (!Array.isArray(content)) return content
  const parts: readonly unknown[] = content
  const made = parts.map((part) => {
    if (typeof part === 'string') return map(part)
    if (!isObject(part) || typeof part.text !== 'string') return part
    const text = map(part.text)
    // its citations may quote what was replaced
    return text === part.text ? part : { ...part, text, citations: undefined }
  })
  return made.some((part, at) => part !== parts[at]) ? made : content
}

/** Index of the first message after the last answer of the model. */
export const newSince = (messages: readonly unknown[]): number =>
  messages.findLastIndex((message) => objectOf(message).role === 'assistant') + 1

/** Fields of a message in which a model writes. */
export const writtenFields = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Fields of a message with lists of what a model thought, which providers sign, and what it cites: what is found in one removes it. */
export const thoughtFields = ['thinking_blocks', 'reasoning_details', 'citations'] as const

/** Fields of a message that may have nothing of what was found in the others. */
const otherFields = ['role', 'tool_calls', 'function_call', 'images', 'annotations', 'audio'] as const

const shownFields: ReadonlySet<string> = new Set([...writtenFields, ...thoughtFields, ...otherFields])

/** Maps all that a model wrote in an answer; returns the same answer when nothing changed. */
export const mappedAnswer = (completion: WireObject, map: (text: string) => string): WireObject => {
  const before = arrayOf(completion.choices)
  const choices = before.map((choice) => {
    if (!isObject(choice)) return choice
    const { text, message } = choice
    const made =
      typeof text === 'string'
        ? changed(choice, { text: map(text) })
        : isObject(message)
          ? changed(choice, { message: mappedMessage(message, map) })
          : choice
    // they have the text, token by token
    return made === choice || choice.logprobs === undefined ? made : { ...made, logprobs: null }
  })
  return choices.some((choice, at) => choice !== before[at]) ? { ...completion, choices } : completion
}

const mappedMessage = (message: WireObject, map: (text: string) => string): WireObject => {
  const fields: Record<string, unknown> = {}
  for (const name of writtenFields) if (message[name] !== undefined) fields[name] = mappedContent(message[name], map)
  if (isObject(message.function_call)) fields.function_call = mappedCall(message.function_call, map)
  if (Array.isArray(message.tool_calls)) {
    const calls: readonly unknown[] = message.tool_calls
    const made = calls.map((call) => {
      if (!isObject(call)) return call
      const { function: called, custom } = call
      if (isObject(called)) return changed(call, { function: mappedCall(called, map) })
      return isObject(custom) && typeof custom.input === 'string'
        ? changed(call, { custom: changed(custom, { input: map(custom.input) }) })
        : call
    })
    fields.tool_calls = made.some((call, at) => call !== calls[at]) ? made : calls
  }
  for (const name of thoughtFields) {
    const text = arrayOf(message[name]).map(thoughtIn).join('')
    if (text !== '' && map(text) !== text) fields[name] = undefined
  }
  const { transcript } = objectOf(message.audio)
  if (typeof transcript === 'string' && map(transcript) !== transcript) fields.audio = undefined
  const made = changed(message, fields)
  // some providers repeat the text in fields of their own
  return made === message ? message : Object.fromEntries(Object.entries(made).filter(([name]) => shownFields.has(name)))
}

const thoughtIn = (block: unknown): string => {
  const { thinking, text, summary, cited_text } = objectOf(block)
  return textOf(thinking) + textOf(text) + textOf(summary) + textOf(cited_text)
}

/** Arguments stay JSON: what cannot be replaced in them is left out as a whole. */
const mappedCall = (called: WireObject, map: (text: string) => string): WireObject => {
  if (typeof called.arguments !== 'string') return called
  const text = mappedJson(called.arguments, map, '{}')
  const isBroken = text !== called.arguments && parseJson(text) === undefined
  return changed(called, { arguments: isBroken ? '{}' : text })
}

const changed = (before: WireObject, fields: WireObject): WireObject =>
  Object.keys(fields).some((name) => fields[name] !== before[name]) ? { ...before, ...fields } : before

/** The answer in place of one that is blocked: the same choices without anything that the model wrote. */
export const blockedAnswer = (completion: WireObject): WireObject => ({
  ...completion,
  choices: arrayOf(completion.choices).map((choice, at) => {
    const { index = at, message } = objectOf(choice)
    const end = { index, finish_reason: 'content_filter', logprobs: null }
    return isObject(message)
      ? { ...end, message: { role: 'assistant', content: '', refusal: null } }
      : { ...end, text: '' }
  }),
})
