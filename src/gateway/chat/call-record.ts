import { arrayOf, objectOf, textOf, type WireObject } from '../../outgoing/wire.ts'
import type { Ticket } from '../call/admission.ts'
import { type CallLedger, callerGone, type GatewayCall } from '../call/call-ledger.ts'
import { isRequest, type Payer } from '../call/caller.ts'
import type { ChatSummary } from '../call/chat-calls.ts'
import { codeOf, statusOf } from '../call/refusal.ts'
import type { Route } from '../call/routes.ts'
import { tokensOfChars } from '../call/usage.ts'
import { costAt } from '../prices/prices.ts'
import type { TokenUsage } from '../prices/usage.ts'
import { AnswerLog } from './answer-log.ts'
import type { StreamEnd } from './answer-reader.ts'
import type { RunAsk } from './chat-run.ts'

/** What becomes of what is noted. */
export interface RecordParts {
  readonly ledger: CallLedger
  /** Takes what actors used, for limits of tokens; their usage rows follow from their commits. */
  readonly counted: (call: Pick<GatewayCall, 'units'> & { readonly caller: Payer }) => void
  /** ms since the epoch. */
  readonly now: () => number
}

/** What was used of whom. */
export type Spent = Pick<ChatSummary, 'route' | 'usage' | 'costUsd'>

type Headers = ChatSummary['headers']

/** What is noted of one chat request while it runs: for its summary, its usage row and the request log. */
export class CallRecord {
  readonly #parts: RecordParts
  readonly #startedAt: number
  readonly #started = performance.now()
  #firstByteMs: number | null = null
  #answer: AnswerLog | null = null
  #summary: ChatSummary | null = null
  /** As it goes to the provider: without what was redacted. */
  asked: RunAsk
  readonly #askedModel: string
  attempts = 0
  route: Route | null = null
  /** The whole answer, of one that is not streamed. */
  completion: WireObject | null = null
  /** Tokens that were handed on, by length; null when there were none. */
  tokensSoFar: number | null = null

  constructor(parts: RecordParts, asked: RunAsk) {
    this.#parts = parts
    this.asked = asked
    this.#askedModel = textOf(asked.body.model)
    this.#startedAt = parts.now()
  }

  /** What was streamed to the caller. */
  get answer(): AnswerLog {
    this.#answer ??= new AnswerLog()
    return this.#answer
  }

  /** A byte of an answer has come. */
  begun(): void {
    this.#firstByteMs ??= performance.now() - this.#started
  }

  headers(ticket: Ticket | null): Headers {
    const provider = ['x-provider', this.route?.provider ?? ''] as const
    return ticket === null || ticket.headers.length === 0 ? [provider] : [provider, ...ticket.headers]
  }

  summary(end: StreamEnd, headers: Headers): ChatSummary {
    const { route } = this
    if (route === null) throw new Error('an answer of nobody')
    const usage = end.usage ?? this.#estimate()
    this.#summary = {
      route,
      model: end.model === '' ? route.model : end.model,
      usage,
      costUsd: costBy(route, usage),
      finishReason: end.finishReason === '' ? null : end.finishReason,
      headers,
    }
    return this.#summary
  }

  /** What an answer that broke off has used, as far as can be known; null when nothing was handed on. */
  partial(): Spent | null {
    const { route } = this
    if (this.tokensSoFar === null || route === null) return null
    const usage = this.#estimate()
    return { route, usage, costUsd: costBy(route, usage) }
  }

  /** What that has cost; nothing when nothing was handed on, null when nobody knows. */
  partialCost(): string | null {
    const spent = this.partial()
    return spent === null ? '0' : spent.costUsd
  }

  /** Hands the call to the ledger, once; but for an actor's, which has a row of its own. @param error null when it went well. */
  write(error: Error | null): void {
    const { route } = this
    const { caller, operation, need, stream } = this.asked
    const usage = this.#summary?.usage ?? (this.tokensSoFar === null ? null : this.#estimate())
    if (!isRequest(caller)) {
      this.#parts.counted({ caller, units: usage === null ? null : { tokens: usage } })
      return
    }
    this.#parts.ledger.record({
      caller,
      operation,
      need,
      asked: this.#askedModel,
      route,
      units: usage === null ? null : { tokens: usage },
      costUsd: this.#summary === null ? this.partialCost() : this.#summary.costUsd,
      status: error === null ? 200 : this.#statusBy(error),
      error: error === null ? null : codeOf(error),
      streamed: stream,
      startedAt: this.#startedAt,
      firstByteMs: this.#firstByteMs,
      durationMs: performance.now() - this.#started,
      attempts: this.attempts,
      bodies: () => ({ request: this.#request(), response: this.#response() }),
    })
  }

  /** A stream that breaks had the good status of its beginning. */
  #statusBy(error: Error): number {
    if (codeOf(error) === 'cancelled') return callerGone
    return this.tokensSoFar === null ? statusOf(error) : 200
  }

  #request(): string {
    const { bytes, body } = this.asked
    return bytes === null ? JSON.stringify(body) : Buffer.from(bytes).toString('utf8')
  }

  #response(): string {
    return this.completion === null ? (this.#answer?.toString() ?? '') : JSON.stringify(this.completion)
  }

  /** Tokens by length, for a provider that counted none. */
  #estimate(): TokenUsage {
    const { messages, tools } = this.asked.body
    const output = this.tokensSoFar ?? tokensOfChars(writtenLength(this.completion))
    return {
      inputTokens: tokensOfChars(JSON.stringify([messages, tools]).length),
      outputTokens: output,
      cachedTokens: 0,
      reasoningTokens: 0,
      estimated: true,
    }
  }
}

const costBy = (route: Route, tokens: TokenUsage): string | null => costAt(route.provider, route.model, { tokens })

/** Characters that the model wrote in a `chat.completion`. */
export const writtenLength = (completion: WireObject | null): number =>
  arrayOf(completion?.choices).reduce<number>((sum, choice) => sum + lengthOf(objectOf(objectOf(choice).message)), 0)

const lengthOf = ({ content, tool_calls }: WireObject): number =>
  textOf(content).length + (tool_calls === undefined ? 0 : JSON.stringify(tool_calls).length)
