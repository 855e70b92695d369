import type { UseCases } from '#actors/call/use-cases.ts'
import { costField } from '#gateway/call/accounting/shown-cost.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { EmbeddingCalls, EmbeddingOutcome } from '#gateway/embeddings/embedding-calls.ts'

/** OpenAI's embeddings. Answers of providers with the same format are passed on without being re-encoded. */
export const embeddingUseCases = (calls: Pick<EmbeddingCalls, 'create'>): Pick<UseCases, 'embeddings.create'> => ({
  'embeddings.create': async (call) => {
    const { body, bytes = null, signal, idempotency } = call
    const outcome = await calls.create({
      ...{ caller: callerOf(call), operation: 'embeddings.create' },
      ...{ body, bytes, signal },
    })
    const { headers } = outcome
    if (outcome.bytes !== null && idempotency === null) {
      return { bytes: { contentType: 'application/json; charset=utf-8', bytes: outcome.bytes, headers } }
    }
    return { json: listOf(outcome), headers }
  },
})

const listOf = ({ model, vectors, costUsd, usage: { inputTokens } }: EmbeddingOutcome) => ({
  object: 'list' as const,
  data: vectors.map((embedding, index) => ({ object: 'embedding' as const, index, embedding })),
  model,
  usage: { prompt_tokens: inputTokens, total_tokens: inputTokens, ...costField(costUsd) },
})
