import { isLong } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { CallEnd, CallRecord } from '../call/accounting/call-record.ts'
import type { Charge } from '../call/accounting/charge.ts'
import { type LoggedText, loggedBytes, loggedJson } from '../call/accounting/logged-text.ts'
import { routeCost } from '../call/accounting/route-price.ts'
import { tokensOfChars } from '../call/accounting/usage.ts'
import { isRequest } from '../call/caller.ts'
import type { ChatSummary } from '../call/chat-calls.ts'
import { statusOf } from '../call/refusal.ts'
import type { Route } from '../call/routes.ts'
import type { TokenUsage } from '../prices/usage.ts'
import { AnswerLog } from './answer-log.ts'
import type { StreamEnd } from './answer-reader.ts'
import type { ChatRunRequest } from './chat-run-request.ts'
import { requestedPlace } from './max-cost.ts'
import { possibleUsage } from './possible-usage.ts'

type RecordedCall = Pick<CallRecord, 'route'> & Partial<Pick<CallRecord, 'reuse'>>

/** Collects the data of one running chat request for its summary, its usage row and the request log. */
export class ChatRecord {
  readonly #call: RecordedCall
  #answer: AnswerLog | null = null
  #summary: ChatSummary | null = null
  /** The request as sent to the provider, after redaction. */
  request: ChatRunRequest
  /** The complete answer, when it is not streamed. */
  completion: WireObject | null = null
  /** Output tokens that were passed on, estimated from the length; null when there were none. */
  tokensSoFar: number | null = null

  constructor(call: RecordedCall, request: ChatRunRequest) {
    this.#call = call
    this.request = request
  }

  /** The answer as streamed to the caller. */
  get answer(): AnswerLog {
    this.#answer ??= new AnswerLog()
    return this.#answer
  }

  /** Logs a chunk, except for actors, whose own log has the answer. */
  chunk(chunk: WireObject): void {
    if (isRequest(this.request.caller)) this.answer.chunk(chunk)
  }

  summary(end: StreamEnd, headers: ChatSummary['headers']): ChatSummary {
    const { route } = this.#call
    if (route === null) throw new Error('an answer without a route')
    const usage = possibleUsage(end.usage, this.request.body, route) ?? this.#estimate()
    this.#summary = {
      route,
      model: end.model === '' ? route.model : end.model,
      usage,
      costUsd: this.#call.reuse?.status === 'hit' ? '0' : costBy(route, usage),
      finishReason: end.finishReason === '' ? null : end.finishReason,
      headers,
    }
    return this.#summary
  }

  /** The estimated charge of an answer that broke off; null when nothing was passed on. */
  partial(): Charge | null {
    const { route } = this.#call
    if (this.tokensSoFar === null || route === null) return null
    const usage = this.#estimate()
    return { route, usage, costUsd: costBy(route, usage) }
  }

  /** Reports the cost of the request, and returns its result. @param error null on success. */
  end(error: Error | null): CallEnd {
    const charge = this.#summary ?? this.partial()
    const costUsd = charge === null ? '0' : charge.costUsd
    this.request.onCost?.(costUsd)
    // a stream that breaks has already sent status 200
    const status = error === null || this.tokensSoFar !== null ? 200 : statusOf(error)
    return {
      usage: charge === null ? null : { tokens: charge.usage },
      costUsd,
      status,
      finishReason: this.#summary?.finishReason ?? null,
      bodies: () => ({ request: this.#request(), response: this.#response() }),
    }
  }

  #request(): LoggedText {
    const { bytes, body } = this.request
    return bytes === null ? loggedJson(body) : loggedBytes(bytes)
  }

  #response(): LoggedText {
    return this.completion === null ? (this.#answer?.toString() ?? '') : loggedJson(this.completion)
  }

  /** Estimates the usage from the lengths, for a provider that reported none. */
  #estimate(): TokenUsage {
    const { messages, tools } = this.request.body
    const output = this.tokensSoFar ?? tokensOfChars(writtenLength(this.completion))
    return {
      inputTokens: tokensOfChars(sizeAsJson([messages, tools])),
      outputTokens: output,
      cachedTokens: 0,
      reasoningTokens: 0,
      estimated: true,
      ...requestedPlace(this.request.body),
    }
  }
}

/** Returns the cost of an answer on this route in USD as decimal text; null when the price is unknown. */
export const costBy = (route: Route, tokens: TokenUsage): string | null => routeCost(route, { tokens })

/** Number of characters that the model generated in a `chat.completion`. */
export const writtenLength = (completion: WireObject | null): number =>
  arrayOf(completion?.choices).reduce<number>((sum, choice) => sum + lengthOf(objectOf(objectOf(choice).message)), 0)

const lengthOf = ({ content, tool_calls }: WireObject): number =>
  textOf(content).length + (tool_calls === undefined ? 0 : JSON.stringify(tool_calls).length)

/** Length of a value as JSON. For a long value it is estimated, since encoding it would block the event loop. */
const sizeAsJson = (value: object): number => (isLong(value) ? charsOf(value) : JSON.stringify(value).length)

const charsOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length + 2
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + charsOf(item) + 1, 2)
  if (!isObject(value)) return 4
  return Object.entries(value).reduce((sum, [name, item]) => sum + name.length + 4 + charsOf(item), 2)
}
