import { createHash } from 'node:crypto'
import { extractionName, simulatedExtraction } from '#facts/index.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { fillArguments } from './arguments.ts'
import { excerptOf } from './excerpt.ts'
import { describeImages, type SeenImage } from './images.ts'
import { inFormat } from './json-reply.ts'
import { placesBehind } from './named-places.ts'
import { says, unnamedTool } from './phrases.ts'
import { promptedAnswer, textsOf } from './prompted-form.ts'
import { citedSources, isSearch, wantsSearch } from './sources.ts'

/** A function offered by the caller. */
interface OfferedTool {
  readonly name: string
  readonly schema: WireObject
}

/** A tool call made by the simulated model. */
export interface SimulatedCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** The simulated model's reaction to one request. */
export type Reply =
  | { readonly kind: 'refuse'; readonly status: number; readonly retryAfterS: number | null; readonly code: string }
  | {
      readonly kind: 'answer'
      readonly text: string
      readonly calls: readonly SimulatedCall[]
      readonly slow: boolean
      /** What it reasons before the answer; '' for nothing. */
      readonly reasoning: string
      /** Fault in the middle of the stream. */
      readonly trouble: 'none' | 'cut' | 'malformed'
    }

/** Maximum number of tool calls in one reply, as at OpenAI. */
const maxCalls = 128
/** Longest text from which facts are extracted, in characters. */
const maxExtracted = 64 * 1024

const slowWords = 30
const filler = 'I take my time with every single word of this answer, as you asked me to,'

/**
 * Decides the reply from the request alone: equal requests get equal replies.
 *
 * @param images images in the last user message.
 * @param seed part of the ids of tool calls, so that two conversations do not share ids.
 */
export function* decideReply(request: WireObject, images: readonly SeenImage[], seed: string): SlicedWork<Reply> {
  const messages = arrayOf(request.messages)
  const input = lastUserText(messages)
  const prompt = excerptOf(input)
  const results = toolResultsAtEnd(messages)
  if (isExtraction(request.response_format))
    return answer(yield* simulatedExtraction(input.slice(0, maxExtracted)), [], plain)
  const slow = says(prompt, 'slow please')
  const manner = { slow, reasoning: says(prompt, 'think please') ? `The user writes: ${prompt.slice(0, 200)}` : '' }
  const format = request.response_format
  const seeds = `${seed}:${messages.length}`
  if (results.length > 0) {
    const next = nextTools(prompt, messages, request)
    if (next.length > 0) return answer('', callsOf(next, `${prompt} ${excerptOf(resultsText(results))}`, seeds), manner)
    return answer(inFormat(quote(results), { prompt, images }, format), [], manner)
  }
  if (says(prompt, 'fail please')) return refuse(500, null, 'server_error')
  if (says(prompt, 'rate limit please')) return refuse(429, 1, 'rate_limit_exceeded')
  const wanted = toolsWanted(prompt, request)
  if (wanted.length > 0) return answer('', callsOf(wanted, prompt, seeds), manner)
  const prompted = images.length > 0 ? null : promptedAnswer(textsOf(messages, contentText), { prompt, input })
  if (prompted !== null && objectOf(format).type !== 'json_schema') return answer(prompted, [], manner)
  const echo = `${describeImages(images)}You said: ${input}`
  const text = inFormat(slow ? lengthened(echo) : echo, { prompt, images }, format)
  if (says(prompt, 'cut please')) return { ...answer(text, [], manner), trouble: 'cut' }
  if (says(prompt, 'malformed please')) return { ...answer(text, [], manner), trouble: 'malformed' }
  return answer(text, [], manner)
}

/** Whether the request extracts facts for memory; these are extracted by rules. */
const isExtraction = (format: unknown): boolean => objectOf(objectOf(format).json_schema).name === extractionName

/** Returns the tools of a request; those without a usable name are dropped. */
function offeredTools(tools: unknown): OfferedTool[] {
  return arrayOf(tools).flatMap((tool) => {
    const fields = objectOf(objectOf(tool).function)
    const name = textOf(fields.name)
    return name === '' ? [] : [{ name, schema: objectOf(fields.parameters) }]
  })
}

/** Returns the text of a message's content, which is a string or an array of parts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return arrayOf(content)
    .map((part) => textOf(objectOf(part).text))
    .join('')
}

/** How an answer is given beside its text and calls. */
type Manner = Pick<Extract<Reply, { kind: 'answer' }>, 'slow' | 'reasoning'>

const plain: Manner = { slow: false, reasoning: '' }

const answer = (text: string, calls: readonly SimulatedCall[], manner: Manner) =>
  ({ kind: 'answer', text, calls, ...manner, trouble: 'none' }) as const

const refuse = (status: number, retryAfterS: number | null, code: string): Reply => ({
  kind: 'refuse',
  status,
  retryAfterS,
  code,
})

function lastUserText(messages: readonly unknown[]): string {
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]
    if (isObject(message) && message.role === 'user') return contentText(message.content)
  }
  return ''
}

/** Returns the tool results after the last message of another role, with the names of their calls. */
function toolResultsAtEnd(messages: readonly unknown[]): { name: string; content: string }[] {
  const names = new Map<string, string>()
  let results: { name: string; content: string }[] = []
  for (const message of messages) {
    const { role, tool_calls, tool_call_id, content } = objectOf(message)
    if (role === 'tool') {
      results.push({ name: names.get(textOf(tool_call_id)) ?? 'tool', content: contentText(content) })
      continue
    }
    results = []
    for (const call of arrayOf(tool_calls)) {
      names.set(textOf(objectOf(call).id), textOf(objectOf(objectOf(call).function).name))
    }
  }
  return results
}

const quote = (results: readonly { name: string; content: string }[]): string =>
  results.map(({ name, content }) => `The tool ${name} answered: ${citedSources(content) ?? content}`).join('\n')

const resultsText = (results: readonly { content: string }[]): string => results.map(({ content }) => content).join(' ')

/**
 * Returns the tools to call after results: the next tool of "use a, and b with its result", whose arguments are taken
 * from the results; or, where a call is required, a tool whose name marks the end of the work.
 */
function nextTools(prompt: string, messages: readonly unknown[], request: WireObject): readonly OfferedTool[] {
  const tools = allowedTools(request)
  const called = calledSince(messages)
  const rest = isChain(prompt) ? toolsNamedIn(prompt, tools).filter(({ name }) => !called.has(name)) : []
  if (rest.length > 0) return rest.slice(0, 1)
  const last = tools.find(({ name }) => /final|finish|submit|done/i.test(name))
  return modeOf(request.tool_choice) === 'required' && last !== undefined ? [last] : []
}

const isChain = (prompt: string): boolean => says(prompt, 'with its result')

/** Returns the names of the tools called since the last user message. */
function calledSince(messages: readonly unknown[]): ReadonlySet<string> {
  const from = messages.findLastIndex((message) => objectOf(message).role === 'user')
  const calls = messages.slice(from + 1).flatMap((message) => arrayOf(objectOf(message).tool_calls))
  return new Set(calls.map((call) => textOf(objectOf(objectOf(call).function).name)))
}

/** Returns the mode `auto`, `none` or `required`, also that of `allowed_tools`. */
const modeOf = (choice: unknown): unknown =>
  objectOf(choice).type === 'allowed_tools' ? objectOf(objectOf(choice).allowed_tools).mode : choice

function allowedTools(request: WireObject): OfferedTool[] {
  const tools = offeredTools(request.tools)
  const { type, allowed_tools } = objectOf(request.tool_choice)
  if (type !== 'allowed_tools') return tools
  const names = arrayOf(objectOf(allowed_tools).tools).map((tool) => textOf(objectOf(objectOf(tool).function).name))
  return tools.filter(({ name }) => names.includes(name))
}

/**
 * Applies `tool_choice` and `parallel_tool_calls` to the calls that the text requests; they may remove or add calls.
 */
function toolsWanted(prompt: string, request: WireObject): readonly OfferedTool[] {
  const tools = allowedTools(request)
  const choice = modeOf(request.tool_choice)
  if (choice === 'none') return []
  const forced = textOf(objectOf(objectOf(choice).function).name)
  if (forced !== '') return tools.filter(({ name }) => name === forced)
  const named = toolsNamedIn(prompt, tools)
  const wanted = named.length === 0 && choice === 'required' ? tools.slice(0, 1) : named
  return request.parallel_tool_calls === false || isChain(prompt) ? wanted.slice(0, 1) : wanted
}

/**
 * Returns the tools named in the text, in that order; when the text requests a tool without a name, one tool or all.
 */
function toolsNamedIn(text: string, tools: readonly OfferedTool[]): OfferedTool[] {
  const named = tools
    .map((tool) => ({ tool, at: placeOfName(text, tool.name) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ tool }) => tool)
  if (named.length > 0) return named
  const noun = unnamedTool(text)
  if (noun === null) return wantsSearch(text) ? tools.filter(isSearch).slice(0, 1) : []
  return noun === 'tools' ? [...tools] : tools.slice(0, 1)
}

function placeOfName(text: string, name: string): number {
  const [end] = placesBehind(text, name, true)
  return end === undefined ? -1 : end - name.length
}

function callsOf(tools: readonly OfferedTool[], text: string, seed: string): SimulatedCall[] {
  return tools.slice(0, maxCalls).map(({ name, schema }, place) => ({
    id: `call_${createHash('sha256').update(`${seed}:${place}:${name}`).digest('hex').slice(0, 24)}`,
    name,
    arguments: JSON.stringify(fillArguments(schema, text, name)),
  }))
}

/** Characters in which words are counted. */
const maxSplit = 4096

function lengthened(text: string): string {
  let long = text
  while (long.slice(0, maxSplit).split(/\s+/).length < slowWords) long += ` ${filler}`
  return long
}
