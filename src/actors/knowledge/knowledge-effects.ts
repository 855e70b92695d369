import type { EffectCatalog } from '../runtime/index.ts'
import { type EraseParts, eraseActor } from '../runtime/internal.ts'
import { type EmbedParts, embedSource } from './sources/embed-source.ts'
import { type SyncParts, syncSource } from './sources/sync-source.ts'

/** The effects of the source machine, by `<machine>.<name>`. */
export const knowledgeEffects = (parts: SyncParts & EmbedParts & EraseParts): EffectCatalog => ({
  'knowledge_source.syncSource': syncSource(parts),
  'knowledge_source.embedSource': embedSource(parts),
  'knowledge_source.eraseSource': eraseActor(parts),
})
