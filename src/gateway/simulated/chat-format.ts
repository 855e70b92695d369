import { tokensOfChars } from '../call/accounting/usage.ts'
import type { SimulatedCall } from './reply.ts'

/** Fields common to all chunks of one response. `created` is in seconds since the epoch. */
export interface AnswerHead {
  readonly id: string
  readonly model: string
  readonly created: number
}

/** Token counts that are not derived from the response text: input, the cached part of it, and reasoning. */
export interface TokenCounts {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly reasoningTokens: number
}

/** A whole response, before it is divided into frames. */
export interface AnswerBody extends TokenCounts {
  /** What the model reasons before the text; '' for nothing. */
  readonly reasoning: string
  readonly text: string
  readonly calls: readonly SimulatedCall[]
  readonly finishReason: 'stop' | 'length' | 'tool_calls'
  /** Number of choices requested (`n`); all of them are equal. */
  readonly choices: number
}

/** The frames of a streamed response: the opening, one per word or piece of arguments, and the end. */
export interface AnswerFrames {
  readonly first: string
  readonly parts: readonly string[]
  readonly last: string
}

/** Divides a response into frames: a text word by word, and arguments of a call in pieces, as real providers do. */
export function framesOf(head: AnswerHead, body: AnswerBody, includeUsage: boolean): AnswerFrames {
  const start = `data: {"id":"${head.id}","object":"chat.completion.chunk","created":${head.created},"model":${JSON.stringify(head.model)},"choices":`
  const frame = (delta: string, finish = 'null'): string =>
    indexes(body)
      .map((index) => `${start}[{"index":${index},"delta":${delta},"finish_reason":${finish}}]}\n\n`)
      .join('')
  const words = wordsOf(body.text, body.choices)
  const usage = includeUsage ? `${start}[],"usage":${JSON.stringify(usageOf(body))}}\n\n` : ''
  return {
    first: frame('{"role":"assistant","content":""}'),
    parts: [
      ...wordsOf(body.reasoning, body.choices).map((word) => frame(`{"reasoning_content":${JSON.stringify(word)}}`)),
      ...words.map((word) => frame(`{"content":${JSON.stringify(word)}}`)),
      ...body.calls.flatMap((call, index) => callDeltas(call, index).map((delta) => frame(JSON.stringify(delta)))),
    ],
    last: `${frame('{}', `"${body.finishReason}"`)}${usage}data: [DONE]\n\n`,
  }
}

/** Builds the non-streamed response. */
export function completionOf(head: AnswerHead, body: AnswerBody): object {
  const calls = body.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
  const message = {
    role: 'assistant',
    content: body.text === '' && calls.length > 0 ? null : body.text,
    refusal: null,
    ...(body.reasoning !== '' && { reasoning_content: body.reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
  return {
    ...head,
    object: 'chat.completion',
    choices: indexes(body).map((index) => ({ index, message, logprobs: null, finish_reason: body.finishReason })),
    usage: usageOf(body),
  }
}

/** Length from which a text is divided into equal pieces, and the maximum number of these for all choices. */
const longChars = 32 * 1024
const maxPieces = 1_024

const wordsOf = (text: string, choices: number): readonly string[] => {
  if (text.length <= longChars / choices) return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text])
  const size = Math.ceil((text.length * choices) / maxPieces) + 1
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    // a surrogate pair stays together
    const end = /[\ud800-\udbff]/.test(text[at + size - 1] ?? '') ? at + size + 1 : at + size
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}

const indexes = ({ choices }: AnswerBody): readonly number[] => Array.from({ length: choices }, (_, index) => index)

function usageOf(body: AnswerBody): object {
  const written = body.text.length + body.calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0)
  const completion = (Math.max(1, tokensOfChars(written)) + body.reasoningTokens) * body.choices
  return {
    prompt_tokens: body.promptTokens,
    completion_tokens: completion,
    total_tokens: body.promptTokens + completion,
    prompt_tokens_details: { cached_tokens: body.cachedTokens },
    completion_tokens_details: { reasoning_tokens: body.reasoningTokens },
  }
}

function callDeltas(call: SimulatedCall, index: number): object[] {
  const opening = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }
  const pieces = call.arguments.match(/.{1,12}/gsu) ?? []
  return [
    { tool_calls: [opening] },
    ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]
}
