import { isObject, type WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Found, Redacted, RedactionPolicy, Replacement } from '../call/redaction.ts'
import { ChatRestorer } from './chat-restorer.ts'
import { type GrownHistory, HistoryLook } from './grown-history.ts'
import { looksWritten } from './placeholders.ts'
import { redacted } from './redacted.ts'

/** A chat body without personal data, and what turns its answer back; null when there is nothing to turn back. */
export interface RedactedChat {
  /** The same object when nothing was replaced. */
  readonly body: ChatBody
  readonly restorer: ChatRestorer | null
  readonly found?: Found
  /** `Redacted.replacements` (../call/redaction.ts) */
  readonly replacements?: readonly Replacement[]
}

/**
 * Takes personal data out of the texts of a chat body by a project's policy: texts of messages and of their parts,
 * results of tools, a prediction, `user`, values of `metadata`; and the arguments of tool calls. Pictures, sounds and
 * files stay, and so do the descriptions of tools, which are the developer's.
 *
 * @param history of the body, where it is one that grows: what nothing was found in before is not looked at again.
 */
export const redactChat = (
  body: ChatBody,
  policy: RedactionPolicy,
  history?: GrownHistory,
): RedactedChat | Promise<RedactedChat> => {
  if (history === undefined) return redactWhole(body, policy)
  const look = new HistoryLook(history, policy.key)
  const made = redactWhole(look.body, policy)
  return made instanceof Promise ? made.then((late) => grown(body, look, late)) : grown(body, look, made)
}

const grown = (body: ChatBody, look: HistoryLook, made: RedactedChat): RedactedChat => {
  look.note(made.body, mayBeWritten)
  return made.body === look.body ? { ...made, body } : { ...made, body: look.whole(made.body) }
}

/** Placeholders are given names that no text of the request has: such a text is looked at in each request. */
const mayBeWritten = (message: WireObject): boolean => {
  const texts: string[] = []
  mapMessage(message, { text: collect(texts), toolArguments: collect(texts) })
  return texts.some(looksWritten)
}

const redactWhole = (body: ChatBody, policy: RedactionPolicy): RedactedChat | Promise<RedactedChat> => {
  const texts: string[] = []
  const calls: string[] = []
  mapTexts(body, { text: collect(texts), toolArguments: collect(calls) })
  const sought = [policy.input ? texts : none, policy.toolArguments ? calls : none] as const
  const made = redacted(policy, ...sought)
  const put = (late: Redacted): RedactedChat => {
    const isClean = isSame(sought[0], late.texts) && isSame(sought[1], late.toolArguments)
    const found = late.found === undefined ? {} : { found: late.found }
    return isClean ? { body, restorer: null, ...found } : { ...replaced(body, policy, late), ...found }
  }
  return made instanceof Promise ? made.then(put) : put(made)
}

const none: readonly string[] = []

const isSame = (before: readonly string[], after: readonly string[]): boolean => {
  for (let at = 0; at < before.length; at += 1) if (before[at] !== after[at]) return false
  return true
}

const replaced = (
  body: ChatBody,
  policy: RedactionPolicy,
  { texts, toolArguments, restorer, replacements }: Redacted,
): RedactedChat => ({
  body: mapTexts(body, {
    text: policy.input ? inOrder(texts) : same,
    toolArguments: policy.toolArguments ? inOrder(toolArguments) : same,
  }),
  restorer: restorer === null ? null : new ChatRestorer(restorer),
  ...(replacements !== undefined && { replacements }),
})

type MapText = (text: string) => string

interface Maps {
  readonly text: MapText
  readonly toolArguments: MapText
}

const same: MapText = (text) => text

const collect =
  (into: string[]): MapText =>
  (text) => {
    into.push(text)
    return text
  }

const inOrder = (texts: readonly string[]): MapText => {
  let next = 0
  return (text) => texts[next++] ?? text
}

/*
 * Every request takes these steps, mostly to find that nothing changes: they make no object and no function before
 * something does.
 */

const mapTexts = (body: ChatBody, maps: Maps): ChatBody => {
  let made: WireObject = body
  made = withField(made, body, ['messages', each(body.messages, mapMessage, maps)])
  made = withField(made, body, ['prediction', mapPrediction(body.prediction, maps)])
  made = withField(made, body, ['user', mapText(body.user, maps)])
  return withField(made, body, ['metadata', mapMetadata(body.metadata, maps)])
}

/** A field, and what it is now. */
type Field = readonly [name: string, value: unknown]

/** What becomes of `source`: itself, or a copy of it once a field differs, which takes the others too. */
const withField = (made: WireObject, source: WireObject, [name, value]: Field): WireObject => {
  if (value === source[name]) return made
  const copy: Record<string, unknown> = made === source ? { ...source } : made
  copy[name] = value
  return copy
}

type MapPart = (part: unknown, maps: Maps) => unknown

/** The list with each of its items mapped; the same one when none of them changed. */
const each = (list: unknown, map: MapPart, maps: Maps): unknown => {
  if (!Array.isArray(list)) return list
  let copy: unknown[] | null = null
  for (let at = 0; at < list.length; at += 1) {
    const before: unknown = list[at]
    const after = map(before, maps)
    if (after === before) continue
    copy ??= [...list]
    copy[at] = after
  }
  return copy ?? list
}

const mapText: MapPart = (value, { text }) => (typeof value === 'string' ? text(value) : value)

const mapArguments: MapPart = (value, { toolArguments }) => (typeof value === 'string' ? toolArguments(value) : value)

const mapMessage: MapPart = (message, maps) => {
  if (!isObject(message)) return message
  let made = withField(message, message, ['content', mapContent(message.content, maps)])
  made = withField(made, message, ['reasoning_content', mapText(message.reasoning_content, maps)])
  made = withField(made, message, ['refusal', mapText(message.refusal, maps)])
  made = withField(made, message, ['tool_calls', each(message.tool_calls, mapCall, maps)])
  return withField(made, message, ['function_call', mapFunction(message.function_call, maps)])
}

const mapContent: MapPart = (content, maps) =>
  typeof content === 'string' ? maps.text(content) : each(content, mapPart, maps)

const mapPart: MapPart = (part, maps) => {
  if (!isObject(part)) return mapText(part, maps)
  const made = withField(part, part, ['text', mapText(part.text, maps)])
  return withField(made, part, ['refusal', mapText(part.refusal, maps)])
}

const mapPrediction: MapPart = (prediction, maps) =>
  isObject(prediction)
    ? withField(prediction, prediction, ['content', mapContent(prediction.content, maps)])
    : prediction

const mapMetadata: MapPart = (metadata, maps) => {
  if (!isObject(metadata)) return metadata
  let made = metadata
  for (const name of Object.keys(metadata)) made = withField(made, metadata, [name, mapText(metadata[name], maps)])
  return made
}

const mapCall: MapPart = (call, maps) => {
  if (!isObject(call)) return call
  const made = withField(call, call, ['function', mapFunction(call.function, maps)])
  return withField(made, call, ['custom', mapCustom(call.custom, maps)])
}

const mapFunction: MapPart = (called, maps) =>
  isObject(called) ? withField(called, called, ['arguments', mapArguments(called.arguments, maps)]) : called

/** A custom tool takes any text. */
const mapCustom: MapPart = (custom, maps) =>
  isObject(custom) ? withField(custom, custom, ['input', mapArguments(custom.input, maps)]) : custom
