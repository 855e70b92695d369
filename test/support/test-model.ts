import type { ActorCaller } from '#gateway/call/caller.ts'
import type { ModelAnswer, ModelMessage, ModelRequest } from '#gateway/call/provider-port.ts'
import { refusalOf } from '#gateway/call/refusal.ts'
import type { TurnModels } from '#gateway/turns/turn-models.ts'

/** A model implemented by a test. */
export interface TestModel {
  /** Provider id in its usage rows. */
  readonly id: string
  /** @throws {ModelError} {ServiceError} */
  stream(
    request: ModelRequest,
    onDelta: (text: string) => void,
    signal: AbortSignal,
    caller: ActorCaller,
    onReasoning?: (text: string) => void,
  ): Promise<ModelAnswer>
}

/** The models for turns, runs and trials: every name leads to this model, and each answer has the same cost. */
export const turnModelsOf = (model: TestModel, cost: string | null = '0.0001'): TurnModels => ({
  checked: async (texts) => texts,
  lost: async (request, _caller, text) => ({
    route: { provider: model.id, model: request.model, source: 'managed' },
    usage: { inputTokens: 1, outputTokens: text.length, cachedTokens: 0, reasoningTokens: 0, estimated: true },
    costUsd: cost,
  }),
  call: async (request, caller, { onDelta, onReasoning, signal }) => {
    try {
      const answer = await model.stream(request, onDelta, signal, caller, onReasoning)
      const route = { provider: model.id, model: request.model, source: 'managed' } as const
      return { ...answer, charge: { route, usage: answer.usage, costUsd: cost } }
    } catch (error) {
      throw refusalOf(error)
    }
  },
})

/** All messages of a request to the model, in order. */
export const allMessages = ({ instructions = [], messages }: ModelRequest): readonly ModelMessage[] => [
  ...instructions.map((content): ModelMessage => ({ role: 'system', content })),
  ...messages,
]
