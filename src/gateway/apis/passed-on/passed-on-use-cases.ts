import type { UseCases } from '#actors/call/use-cases.ts'
import { counted } from '#gateway/call/accounting/counted.ts'
import { textBytes } from '#gateway/call/accounting/text-bytes.ts'
import { tokensOfChars } from '#gateway/call/accounting/usage.ts'
import type { JsonCallKind } from '#gateway/documents/json-calls.ts'
import { costOfUnits, priceAt } from '#gateway/prices/prices.ts'
import type { TokenUsage, Usage } from '#gateway/prices/usage.ts'
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

/** Reads usage as OpenAI and compatible servers report it; impossible counts are estimated by length. */
const usageIn = ({ usage, choices }: WireObject, { prompt }: WireObject): Usage => {
  const { prompt_tokens, completion_tokens, total_tokens } = objectOf(usage)
  const reported = counted((count) => tokens(count(prompt_tokens ?? total_tokens), count(completion_tokens)))
  if (reported !== null) return { tokens: reported }
  const written = arrayOf(choices).map((choice) => objectOf(choice).text)
  const estimate = [textBytes(prompt), textBytes(written)].map(tokensOfChars)
  return { tokens: { ...tokens(estimate[0] ?? 0, estimate[1] ?? 0), estimated: true } }
}

/** Moderation is free of charge at every provider. */
const moderation: JsonCallKind = {
  operation: 'moderations.create',
  need: 'chat',
  target: at('/moderations'),
  max: () => ({}),
  usage: usageIn,
  costUsd: () => '0',
}

const completion: JsonCallKind = {
  operation: 'completions.create',
  need: 'chat',
  reuse: 'completions',
  target: at('/completions'),
  max: (body) => ({ tokens: tokens(textBytes(body.prompt), maxWritten(body)) }),
  usage: usageIn,
  costUsd: ({ provider, model }, usage) => costOfUnits(priceAt(provider, model), usage),
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
  usage: usageIn,
  costUsd: ({ provider, model }, usage) => costOfUnits(priceAt(provider, model), usage),
}
