import { ServiceError } from '#specs/errors/errors.ts'
import { routeCost } from '../call/accounting/route-price.ts'
import { estimateTokens } from '../call/accounting/token-estimate.ts'
import type { Caller } from '../call/caller.ts'
import type { Candidate } from '../call/candidates.ts'
import type { Route } from '../call/routes.ts'
import type { TokenUsage } from '../prices/usage.ts'
import type { EmbeddingFormat, EmbeddingRequest, ProviderEmbeddings } from '../providers/embedding-format.ts'
import { providerFormats } from '../providers/provider-formats.ts'
import { inputTokensOf } from './embedding-request.ts'

/** One way to serve an embeddings request, with the provider requests to send. */
export interface EmbeddingCandidate extends Candidate {
  readonly caller: Caller
  readonly request: EmbeddingRequest
  readonly format: EmbeddingFormat
  readonly requests: readonly ProviderEmbeddings[]
}

/**
 * Prepares a way. @throws {ServiceError} `model_not_found` for a provider without embeddings, and `invalid_field` for
 * what its format cannot express.
 */
export const embeddingCandidate = (
  { route, model }: Candidate,
  request: EmbeddingRequest,
  caller: Caller,
): EmbeddingCandidate => {
  const format = providerFormats[route.format].embeddings
  if (format === undefined) throw new ServiceError('model_not_found', { param: 'model' })
  return { route, model, caller, request, format, requests: format.requests(request, route) }
}

/** Returns the cost of tokens by the prices of the route's provider. */
export const costBy = (route: Route, tokens: TokenUsage): string | null => routeCost(route, { tokens })

/** Upper bound of usage: no tokeniser produces more tokens than a text has bytes. */
export const maxUsage = ({ inputs }: EmbeddingRequest): TokenUsage =>
  inputOnly(
    inputs.reduce((sum, input) => sum + (typeof input === 'string' ? Buffer.byteLength(input) : input.length), 0),
  )

export const estimatedTokens = ({ inputs }: EmbeddingRequest): number =>
  estimateTokens(inputs.filter((input) => typeof input === 'string')) +
  inputs.reduce((sum, input) => sum + (typeof input === 'string' ? 0 : input.length), 0)

/** Tokens that a provider adds to a text: its beginning, its end, and an instruction that says what it is for. */
const marksATextMax = 512

/** Returns the total usage of all batches; estimated by length when a batch reports no count, or one that is impossible. */
export function usageOf(counted: readonly (number | null)[], request: EmbeddingRequest): TokenUsage {
  const total = counted.reduce<number | null>((sum, count) => (sum === null || count === null ? null : sum + count), 0)
  const max = maxUsage(request).inputTokens + request.inputs.length * marksATextMax
  return total === null || total > max ? { ...inputOnly(inputTokensOf(request)), estimated: true } : inputOnly(total)
}

const inputOnly = (inputTokens: number): TokenUsage => ({
  inputTokens,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
})
