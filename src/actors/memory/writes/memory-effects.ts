import type { EffectCatalog } from '#runtime/effects/effects.ts'
import { type EraseParts, eraseActor } from '#runtime/erasure/erase-actor.ts'
import { type ExtractFactsParts, extractFacts } from './extract-facts.ts'
import { storeMemories } from './store-memories.ts'

/** What the effects of writes need. */
export type MemoryEffectParts = EraseParts & ExtractFactsParts

/** The effects of writes, by `<machine>.<name>`. */
export const memoryEffects = (parts: MemoryEffectParts): EffectCatalog => ({
  'memory_write.extractFacts': extractFacts(parts),
  'memory_write.storeMemories': storeMemories(parts),
  'memory_write.eraseMemoryWrite': eraseActor(parts),
})
