import { renamedModel } from '#outgoing/renamed-model.ts'
import { encodeJson, type WireBody } from '#outgoing/shares/encode-in-steps.ts'
import { objectOf } from '#outgoing/wire.ts'
import type { ChatBody, ChatCall } from '../call/chat-calls.ts'
import type { Route } from '../call/routes.ts'
import { priceAt } from '../prices/prices.ts'
import { isOwnOpenAi } from '../routing/managed-providers.ts'

const closingBrace = 0x7d
const usageOption = Buffer.from(',"stream_options":{"include_usage":true}}')

/** A request's body, parsed, and as which bytes it came. */
export interface ChatInput {
  readonly body: ChatBody
  /** The body as it came, when `body` says nothing else; null when it was made or changed here. */
  readonly bytes: Uint8Array | null
  readonly stream: boolean
  /** Another form was turned into it: the limit on tokens goes by the name that the route's server knows, and sampling where its model takes it. */
  readonly translated?: true
  readonly formatFor?: ChatCall['formatFor']
  /** The same on every attempt: a provider that honours it answers once. */
  readonly idempotencyKey?: string
  /** `body` as bytes for a server of OpenAI's format, by a caller that has most of them at hand. */
  readonly encoded?: ((route: Route) => Uint8Array) | undefined
}

/** Whether the caller of a stream wants the chunk that has its usage. */
export const wantsUsage = (body: ChatBody): boolean => objectOf(body.stream_options).include_usage === true

/**
 * The body for a server that speaks OpenAI's format: the caller's own bytes when nothing but the model's name has to be
 * changed, else written anew. Fields that we do not know are passed on; a stream is always requested with its usage.
 *
 * @param route whose model is called, under the name that its provider knows.
 */
export function openAiBody({ body, bytes, stream, translated }: ChatInput, route: Route): WireBody {
  const { model } = route
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

/** The same request with a limit on its answer, which it had none of. */
export const withTokenLimit = <T extends ChatInput>(input: T, route: Route, tokens: number): T => ({
  ...input,
  body: { ...input.body, [limitField(route)]: tokens },
  bytes: null,
  encoded: undefined,
})

/** OpenAI's newer models refuse `max_tokens`; many other servers know nothing else. */
export const limitField = ({ baseUrl }: Route): 'max_completion_tokens' | 'max_tokens' =>
  isOwnOpenAi(baseUrl) ? 'max_completion_tokens' : 'max_tokens'

/** OpenAI's reasoning models refuse `temperature` and `top_p`; compatible servers are taken at their word. */
export const takesSampling = ({ baseUrl, model }: Route): boolean =>
  !isOwnOpenAi(baseUrl) || priceAt('openai', model)?.sampling !== false

/** What another API requested, in the words of the route's server, and without what its model refuses. */
function inOwnWords({ max_tokens, max_completion_tokens, ...body }: ChatBody, route: Route): ChatBody {
  const { temperature: _temperature, top_p: _topP, ...plain } = body
  const kept = takesSampling(route) ? body : plain
  const limit = max_completion_tokens ?? max_tokens
  return limit === undefined ? kept : { ...kept, [limitField(route)]: limit }
}

/** Adds the field before the last brace: a long history is copied, not written anew. */
function withUsageOption(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(closingBrace)
  const longer = Buffer.allocUnsafe(end + usageOption.length)
  longer.set(bytes.subarray(0, end))
  longer.set(usageOption, end)
  return longer
}
