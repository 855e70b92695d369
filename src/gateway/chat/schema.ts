import type { WireObject } from '#outgoing/wire.ts'
import type { ResultOf } from '#specs/index.ts'

/**
 * Types a provider's answer as the result of the operation. The gateway reads its choices; the rest is passed on
 * unchecked.
 */
export const asCompletion = (completion: WireObject) => completion as ResultOf<'chat_completions.create'>
