import type { UseCases } from '#actors/call/use-cases.ts'
import { counted } from '#gateway/call/accounting/counted.ts'
import { chargedIn } from '#gateway/call/accounting/openai-usage.ts'
import { routeCost } from '#gateway/call/accounting/route-price.ts'
import { textBytes } from '#gateway/call/accounting/text-bytes.ts'
import { tokensOfChars } from '#gateway/call/accounting/usage.ts'
import type { JsonCallKind } from '#gateway/documents/json-calls.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { bearer } from '#gateway/providers/provider-format.ts'
import { arrayOf, countOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import { notStreamed, type PassedOnParts, passedOn } from './passed-on-call.ts'

type PassedOn = 'moderations.create' | 'completions.create' | 'rerank.create'

/** Operations whose documents are sent to the provider of their model unchanged. */
export const passthroughUseCases = ({ documents }: PassedOnParts): Pick<UseCases, PassedOn> => ({
  'moderations.create': (call) =>
    passedOn(documents, moderation, { call, body: { ...call.body, model: moderationModel(call.body) } }),
  'completions.create': (call) => {
    if (objectOf(call.body).stream === true) throw notStreamed('Legacy completions')
    return passedOn(documents, completion, { call, body: call.body })
  },
  'rerank.create': (call) => passedOn(documents, reranking, { call, body: call.body }),
})

/** The model of a moderation; OpenAI's models may be named without the provider. */
const moderationModel = ({ model = 'omni-moderation-latest' }: { readonly model?: string }): string =>
  /^(?:omni|text)-moderation/.test(model) ? `openai/${model}` : model

const at =
  (path: string): JsonCallKind['target'] =>
  (route) =>
    route.format === 'openai' ? { path, headers: bearer(route) } : null

const tokens = (inputTokens: number, outputTokens: number): TokenUsage => ({
  ...{ inputTokens, outputTokens, cachedTokens: 0, reasoningTokens: 0 },
})

/** Reads usage as OpenAI and compatible servers report it; null for none, and for impossible counts. */
const reported = ({ usage }: WireObject): TokenUsage | null => {
  const fields = objectOf(usage)
  const { prompt_tokens, completion_tokens, total_tokens } = fields
  const read = prompt_tokens ?? total_tokens ?? null
  if (read === null) return null
  return counted((count) => ({ ...tokens(count(read), count(completion_tokens)), ...chargedIn(fields) }))
}

/** Estimates usage by length. */
const estimated = (read: unknown, written: unknown): TokenUsage => ({
  ...tokens(tokensOfChars(textBytes(read)), tokensOfChars(textBytes(written))),
  estimated: true,
})

/** Moderation is free of charge at every provider. */
const moderation: JsonCallKind = {
  operation: 'moderations.create',
  need: 'chat',
  target: at('/moderations'),
  max: () => ({}),
  usage: (answer) => ({ tokens: reported(answer) ?? tokens(0, 0) }),
  costUsd: () => '0',
}

const completion: JsonCallKind = {
  operation: 'completions.create',
  need: 'chat',
  reuse: 'completions',
  target: at('/completions'),
  max: (body) => ({ tokens: tokens(textBytes(body.prompt), maxWritten(body)) }),
  usage: (answer, { prompt }) => {
    const written = arrayOf(answer.choices).map((choice) => objectOf(choice).text)
    return { tokens: reported(answer) ?? estimated(prompt, written) }
  },
  costUsd: routeCost,
}

/** Maximum number of output tokens. OpenAI's default is 16 tokens per completion. */
const maxWritten = ({ prompt, max_tokens, n }: WireObject): number =>
  (countOf(max_tokens) || 16) * Math.max(1, arrayOf(prompt).length) * Math.max(1, countOf(n))

const reranking: JsonCallKind = {
  operation: 'rerank.create',
  need: 'chat',
  reuse: 'rerank',
  target: at('/rerank'),
  max: (body) => ({ tokens: tokens(textBytes(body), 0) }),
  usage: (answer, { query, documents }) => ({ tokens: reported(answer) ?? estimated([query, documents], '') }),
  costUsd: routeCost,
}
