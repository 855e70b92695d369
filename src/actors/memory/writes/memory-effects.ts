import type { EffectCatalog } from '#runtime/index.ts'
import { type EraseParts, eraseActor } from '#runtime/internal.ts'
import { type ExtractFactsParts, extractFacts } from './extract-facts.ts'
import { storeMemories } from './store-memories.ts'

export type MemoryEffectParts = EraseParts & ExtractFactsParts

/** Effects of writes, by `<machine>.<name>`. */
export const memoryEffects = (parts: MemoryEffectParts): EffectCatalog => ({
  'memory_write.extractFacts': extractFacts(parts),
  'memory_write.storeMemories': storeMemories(parts),
  'memory_write.eraseMemoryWrite': eraseActor(parts),
})
