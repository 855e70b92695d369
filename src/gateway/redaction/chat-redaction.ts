import { ownBlockField } from '#gateway/providers/anthropic/anthropic-citations.ts'
import { isObject, type WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Found, Redacted, RedactionPolicy, Replacement } from '../call/redaction.ts'
import { type AppendOnlyHistory, HistoryScan } from './append-only-history.ts'
import { ChatRestorer } from './chat-restorer.ts'
import { mapOwnTool } from './own-tools.ts'
import { mayHavePlaceholder } from './placeholders.ts'
import { redacted } from './redacted.ts'

/**
 * A chat body without personal data, and the restorer for its response; the restorer is null when there is nothing to
 * restore.
 */
export interface RedactedChat {
  /** The original object when nothing was replaced. */
  readonly body: ChatBody
  readonly restorer: ChatRestorer | null
  readonly found?: Found | undefined
  /** `Redacted.replacements` (../call/redaction.ts) */
  readonly replacements?: readonly Replacement[] | undefined
}

/**
 * Redacts the texts of a chat body by a project's policy: texts of messages and of their parts, tool results, a
 * prediction, fields that name the user, values of `metadata`, arguments of tool calls, and what calls and results of
 * Anthropic's own tools have. Images, audio and files are left unchanged, and so are descriptions of tools, which the
 * developer wrote.
 *
 * @param history a history that only grows, if the body has one: messages found clean in earlier requests are not
 * scanned again.
 */
export const redactChat = (
  body: ChatBody,
  policy: RedactionPolicy,
  history?: AppendOnlyHistory,
): RedactedChat | Promise<RedactedChat> => {
  if (history === undefined) return redactWhole(body, policy)
  const scan = new HistoryScan(history, policy.key)
  const made = redactWhole(scan.body, policy)
  return made instanceof Promise ? made.then((late) => grown(body, scan, late)) : grown(body, scan, made)
}

const grown = (body: ChatBody, scan: HistoryScan, made: RedactedChat): RedactedChat => {
  scan.note(made.body, mayBeWritten)
  return made.body === scan.body ? { ...made, body } : { ...made, body: scan.whole(made.body) }
}

/**
 * New placeholders must not collide with placeholder-like text of the request, so a message with such text is scanned
 * again in each request.
 */
const mayBeWritten = (message: WireObject): boolean => {
  let found = false
  const scan: MapText = (text) => {
    found ||= mayHavePlaceholder(text)
    return text
  }
  mapMessage(message, { text: scan, toolArguments: scan })
  return found
}

const redactWhole = (body: ChatBody, policy: RedactionPolicy): RedactedChat | Promise<RedactedChat> => {
  const texts: string[] = []
  const calls: string[] = []
  mapTexts(body, { text: collect(texts), toolArguments: collect(calls) })
  const sought = [policy.input ? texts : none, policy.toolArguments ? calls : none] as const
  const made = redacted(policy, ...sought)
  const put = (late: Redacted): RedactedChat => {
    const isClean = isSame(sought[0], late.texts) && isSame(sought[1], late.toolArguments)
    return isClean ? { body, restorer: null, found: late.found } : replaced(body, policy, late)
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
  { texts, toolArguments, restorer, found, replacements }: Redacted,
): RedactedChat => ({
  body: mapTexts(body, {
    text: policy.input ? inOrder(texts) : same,
    toolArguments: policy.toolArguments ? inOrder(toolArguments) : same,
  }),
  restorer: restorer === null ? null : new ChatRestorer(restorer),
  found,
  replacements,
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
 * This runs for every request, and mostly finds nothing to change. It therefore allocates no object and no closure
 * before something changes.
 */

const mapTexts = (body: ChatBody, maps: Maps): ChatBody => {
  let made: ChatBody = body
  const messages = each(body.messages, mapMessage, maps)
  if (messages !== body.messages) made = { ...made, messages }
  const prediction = mapPrediction(body.prediction, maps)
  if (prediction !== body.prediction) made = { ...made, prediction }
  for (const name of userFields) {
    const text = mapText(body[name], maps)
    if (text !== body[name]) made = { ...made, [name]: text }
  }
  const metadata = mapMetadata(body.metadata, maps)
  return metadata === body.metadata ? made : { ...made, metadata }
}

/** Fields that may name the end user. */
const userFields = ['user', 'safety_identifier', 'prompt_cache_key'] as const

type MapPart = (part: unknown, maps: Maps) => unknown

/** Maps each item of a list; returns the same list when no item changed. */
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

const mapOwn: MapPart = (block, { text }) => mapOwnTool(block, text)

/** Texts of a message beside its content. Answers have those of the model with values restored, and come back with them. */
const messageFields = ['name', 'reasoning_content', 'reasoning', 'refusal'] as const

const mapMessage: MapPart = (message, maps) => {
  if (!isObject(message)) return message
  let made = message
  const content = mapContent(message.content, maps)
  if (content !== message.content) made = { ...made, content }
  for (const name of messageFields) {
    const text = mapText(message[name], maps)
    if (text !== message[name]) made = { ...made, [name]: text }
  }
  const citations = each(message.citations, mapQuote, maps)
  if (citations !== message.citations) made = { ...made, citations }
  const annotations = each(message.annotations, mapAnnotation, maps)
  if (annotations !== message.annotations) made = { ...made, annotations }
  const audio = mapSpeech(message.audio, maps)
  if (audio !== message.audio) made = { ...made, audio }
  const thinking_blocks = each(message.thinking_blocks, mapOwn, maps)
  if (thinking_blocks !== message.thinking_blocks) made = { ...made, thinking_blocks }
  const tool_calls = each(message.tool_calls, mapCall, maps)
  if (tool_calls !== message.tool_calls) made = { ...made, tool_calls }
  const function_call = mapFunction(message.function_call, maps)
  return function_call === message.function_call ? made : { ...made, function_call }
}

const mapContent: MapPart = (content, maps) =>
  typeof content === 'string' ? maps.text(content) : each(content, mapPart, maps)

const mapPart: MapPart = (part, maps) => {
  if (!isObject(part)) return mapText(part, maps)
  const text = mapText(part.text, maps)
  const made = text === part.text ? part : { ...part, text }
  const refusal = mapText(part.refusal, maps)
  const plain = refusal === part.refusal ? made : { ...made, refusal }
  const citations = each(part.citations, mapQuote, maps)
  const own = mapOwn(mapQuote(part[ownBlockField], maps), maps)
  const context = mapText(part.context, maps)
  const isSame = citations === part.citations && own === part[ownBlockField] && context === part.context
  return isSame ? plain : { ...plain, citations, [ownBlockField]: own, context }
}

/** A citation, or a block that may be cited: what they quote and how they name it. */
const mapQuote: MapPart = (quote, maps) => {
  if (!isObject(quote)) return quote
  let made = quote
  for (const name of quoteFields) {
    const text = mapText(quote[name], maps)
    if (text !== quote[name]) made = { ...made, [name]: text }
  }
  return made
}

/** Fields of citations with text of a document or about it. */
const quoteFields = ['cited_text', 'document_title', 'title', 'context'] as const

const mapAnnotation: MapPart = (annotation, maps) => {
  if (!isObject(annotation)) return annotation
  const url_citation = mapQuote(annotation.url_citation, maps)
  return url_citation === annotation.url_citation ? annotation : { ...annotation, url_citation }
}

/** Speech that a model made. */
const mapSpeech: MapPart = (audio, maps) => {
  if (!isObject(audio)) return audio
  const transcript = mapText(audio.transcript, maps)
  return transcript === audio.transcript ? audio : { ...audio, transcript }
}

const mapPrediction: MapPart = (prediction, maps) => {
  if (!isObject(prediction)) return prediction
  const content = mapContent(prediction.content, maps)
  return content === prediction.content ? prediction : { ...prediction, content }
}

const mapMetadata: MapPart = (metadata, maps) => {
  if (!isObject(metadata)) return metadata
  let copy: Record<string, unknown> | undefined
  for (const name of Object.keys(metadata)) {
    const value = mapText(metadata[name], maps)
    if (value === metadata[name]) continue
    copy ??= { ...metadata }
    copy[name] = value
  }
  return copy ?? metadata
}

const mapCall: MapPart = (call, maps) => {
  if (!isObject(call)) return call
  const called = mapFunction(call.function, maps)
  const made = called === call.function ? call : { ...call, function: called }
  const custom = mapCustom(call.custom, maps)
  return custom === call.custom ? made : { ...made, custom }
}

const mapFunction: MapPart = (called, maps) => {
  if (!isObject(called)) return called
  const text = mapArguments(called.arguments, maps)
  return text === called.arguments ? called : { ...called, arguments: text }
}

/** The input of a custom tool is free text. */
const mapCustom: MapPart = (custom, maps) => {
  if (!isObject(custom)) return custom
  const input = mapArguments(custom.input, maps)
  return input === custom.input ? custom : { ...custom, input }
}
