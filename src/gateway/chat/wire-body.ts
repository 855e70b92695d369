import { renamedModel } from '#outgoing/renamed-model.ts'
import { encodeJson, type WireBody } from '#outgoing/shares/encode-in-steps.ts'
import { objectOf } from '#outgoing/wire.ts'
import type { ChatBody, ChatCall } from '../call/chat-calls.ts'
import { isStrictOpenAi, type Route, wireModelOf } from '../call/routes.ts'
import { priceAt } from '../prices/prices.ts'

const closingBrace = 0x7d
const usageOption = Buffer.from(',"stream_options":{"include_usage":true}}')

/** The body of a request, parsed and as bytes. */
export interface ChatInput {
  readonly body: ChatBody
  /** The body as received, when it is equivalent to `body`; null when `body` was created or changed by the gateway. */
  readonly bytes: Uint8Array | null
  readonly stream: boolean
  /**
   * Set when the request was converted from another API: then the token limit is sent under the name that the route's
   * server knows, and sampling parameters only where the model accepts them.
   */
  readonly translated?: true
  readonly formatFor?: ChatCall['formatFor']
  /** Same on every attempt: a provider that honours it answers only once. */
  readonly idempotencyKey?: string
  /** Encodes `body` for a server of OpenAI's format; set by a caller that has most of the bytes already. */
  readonly encoded?: ((route: Route) => Uint8Array) | undefined
}

/** Whether the caller of a stream requests the chunk with its usage. */
export const wantsUsage = (body: ChatBody): boolean => objectOf(body.stream_options).include_usage === true

/**
 * Returns the body for a server of OpenAI's format. The caller's own bytes are used when at most the model name and the
 * usage option have to be changed; otherwise the body is encoded again. Unknown fields are passed on; a stream is
 * always requested with its usage.
 *
 * @param route the route whose model is called, under the provider's name.
 */
export function openAiBody({ body, bytes, stream, translated }: ChatInput, route: Route): WireBody {
  const model = wireModelOf(route)
  const asUsual = body.models === undefined && body.memory === undefined
  const usage = stream && !wantsUsage(body)
  const anew = (): WireBody => {
    const { models: _models, memory: _memory, ...rest } = body
    const options = usage ? { stream_options: { ...objectOf(body.stream_options), include_usage: true } } : {}
    const sent = translated ? inOwnWords(rest, route) : rest
    return encodeJson({ ...sent, model, stream, ...options })
  }
  if (bytes === null || !asUsual || (usage && body.stream_options !== undefined)) return anew()
  const copied = (named: Uint8Array | null): WireBody => {
    if (named === null) return anew()
    return usage ? withUsageOption(named) : named
  }
  const named = body.model === model ? bytes : renamedModel(bytes, model)
  return named instanceof Promise ? named.then(copied) : copied(named)
}

/** Returns the same request with a limit on the length of its answer, for a request without one. */
export const withTokenLimit = <T extends ChatInput>(input: T, route: Route, tokens: number): T => ({
  ...input,
  body: { ...input.body, [limitField(route)]: tokens },
  bytes: null,
  encoded: undefined,
})

/** OpenAI's newer models refuse `max_tokens`; many other servers only know that name. */
export const limitField = (route: Route): 'max_completion_tokens' | 'max_tokens' =>
  isStrictOpenAi(route) ? 'max_completion_tokens' : 'max_tokens'

/** OpenAI's reasoning models refuse `temperature` and `top_p`; compatible servers are assumed to accept them. */
export const takesSampling = (route: Route): boolean =>
  !isStrictOpenAi(route) || priceAt('openai', route.model)?.sampling !== false

/**
 * Adapts a request converted from another API to the route's server: renames the token limit, and removes what the
 * model refuses.
 */
function inOwnWords({ max_tokens, max_completion_tokens, ...body }: ChatBody, route: Route): ChatBody {
  const { temperature: _temperature, top_p: _topP, ...plain } = body
  const kept = takesSampling(route) ? body : plain
  const limit = max_completion_tokens ?? max_tokens
  return limit === undefined ? kept : { ...kept, [limitField(route)]: limit }
}

/** Inserts the field before the last brace, so that a long history is copied and not encoded again. */
function withUsageOption(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(closingBrace)
  const longer = Buffer.allocUnsafe(end + usageOption.length)
  longer.set(bytes.subarray(0, end))
  longer.set(usageOption, end)
  return longer
}
