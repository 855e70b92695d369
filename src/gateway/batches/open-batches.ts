import type { Services } from '#actors/capability/services.ts'
import { type BatchEffectParts, batchEffects } from './batch-effects.ts'
import { batchUseCases } from './batch-use-cases.ts'
import { CancelledBatches } from './cancelled-batches.ts'
import { lineCall } from './line-call.ts'
import { messageBatchUseCases } from './message-batch-use-cases.ts'

/** Dependencies of batches, beside the services. */
interface OpenBatchesParts extends Pick<BatchEffectParts, 'files'> {
  readonly publicOrigin: string | null
  /** The use-cases that serve the requests of batches. */
  readonly served: Parameters<typeof lineCall>[0]
}

/** Opens the batches of OpenAI's and Anthropic's APIs. */
export const openBatches = (services: Services, { served, ...parts }: OpenBatchesParts) => {
  const all = { ...services, ...parts, cancelled: new CancelledBatches(services.cluster?.fanOut) }
  return {
    useCases: { ...batchUseCases(all), ...messageBatchUseCases(all) },
    effects: batchEffects({ ...all, call: lineCall(served) }),
  }
}
