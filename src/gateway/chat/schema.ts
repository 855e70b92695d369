import type { WireObject } from '#outgoing/wire.ts'
import type { ResultOf } from '#specs/index.ts'

/** What a provider answered, as what the operation answers: its choices are read, the rest is the provider's word. */
export const asCompletion = (completion: WireObject) => completion as ResultOf<'chat_completions.create'>
