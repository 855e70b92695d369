import type { Services } from '#actors/capability/services.ts'
import { type BatchEffectParts, batchEffects } from './batch-effects.ts'
import { batchUseCases } from './batch-use-cases.ts'
import { lineCall } from './line-call.ts'
import { messageBatchUseCases } from './message-batch-use-cases.ts'

/** Dependencies of batches, beside the services. */
interface OpenBatchesParts extends Pick<BatchEffectParts, 'files'> {
  readonly publicOrigin: string | null
  /** The use-cases that serve the requests of batches. */
  readonly served: Parameters<typeof lineCall>[0]
}

/** Opens the batches of OpenAI's and Anthropic's APIs. */
export const openBatches = (services: Services, { served, ...parts }: OpenBatchesParts) => ({
  useCases: { ...batchUseCases({ ...services, ...parts }), ...messageBatchUseCases({ ...services, ...parts }) },
  effects: batchEffects({ ...services, ...parts, call: lineCall(served) }),
})
