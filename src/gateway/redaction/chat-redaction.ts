import { arrayOf, isObject, type WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Found, Redacted, RedactionPolicy } from '../call/redaction.ts'
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
  const made = redacted(policy, policy.input ? texts : [], policy.toolArguments ? calls : [])
  return made instanceof Promise ? made.then((late) => put(body, policy, late)) : put(body, policy, made)
}

const put = (body: ChatBody, policy: RedactionPolicy, made: Redacted): RedactedChat => ({
  body: mapTexts(body, {
    text: policy.input ? inOrder(made.texts) : same,
    toolArguments: policy.toolArguments ? inOrder(made.toolArguments) : same,
  }),
  restorer: made.restorer === null ? null : new ChatRestorer(made.restorer),
  ...(made.found !== undefined && { found: made.found }),
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

const mapTexts = (body: ChatBody, maps: Maps): ChatBody =>
  changed(body, {
    messages: (messages) => each(messages, (message) => mapMessage(message, maps)),
    prediction: (prediction) => (isObject(prediction) ? changed(prediction, { content: contentBy(maps) }) : prediction),
    user: textBy(maps.text),
    metadata: (metadata) => (isObject(metadata) ? everyValue(metadata, textBy(maps.text)) : metadata),
  })

const mapMessage = (message: unknown, maps: Maps): unknown =>
  isObject(message)
    ? changed(message, {
        content: contentBy(maps),
        reasoning_content: textBy(maps.text),
        refusal: textBy(maps.text),
        tool_calls: (calls) => each(calls, (call) => mapCall(call, maps)),
        function_call: (call) => mapFunction(call, maps),
      })
    : message

const contentBy =
  ({ text }: Maps): MapValue =>
  (content) =>
    typeof content === 'string' ? text(content) : each(content, (part) => mapPart(part, text))

const mapPart = (part: unknown, text: MapText): unknown => {
  if (typeof part === 'string') return text(part)
  return isObject(part) ? changed(part, { text: textBy(text), refusal: textBy(text) }) : part
}

const mapCall = (call: unknown, maps: Maps): unknown =>
  isObject(call) ? changed(call, { function: (called) => mapFunction(called, maps), custom: mapCustom(maps) }) : call

const mapFunction = (called: unknown, { toolArguments }: Maps): unknown =>
  isObject(called) ? changed(called, { arguments: textBy(toolArguments) }) : called

/** A custom tool takes any text. */
const mapCustom =
  ({ toolArguments }: Maps): MapValue =>
  (custom) =>
    isObject(custom) ? changed(custom, { input: textBy(toolArguments) }) : custom

type MapValue = (value: unknown) => unknown

const textBy =
  (map: MapText): MapValue =>
  (value) =>
    typeof value === 'string' ? map(value) : value

/** The object with some of its fields mapped; the same one when none of them changed. */
const changed = (object: WireObject, fields: Readonly<Record<string, MapValue>>): WireObject => {
  let copy: Record<string, unknown> | null = null
  for (const name in fields) {
    const before = object[name]
    if (before === undefined) continue
    const after = fields[name]?.(before)
    if (after === before) continue
    copy ??= { ...object }
    copy[name] = after
  }
  return copy ?? object
}

const everyValue = (object: WireObject, map: MapValue): WireObject =>
  changed(object, Object.fromEntries(Object.keys(object).map((name) => [name, map])))

/** The list with each of its items mapped; the same one when none of them changed. */
const each = (list: unknown, map: MapValue): unknown => {
  const before = arrayOf(list)
  const after = before.map(map)
  return after.some((item, at) => item !== before[at]) ? after : list
}
