import type { Metered } from '#gateway/turns/metered.ts'
import type { Commit, Json } from '#storage/index.ts'
import { isObject } from '../runtime/index.ts'

/**
 * The metered usage in the event of a commit: of one call, or of several. Only `metered` produces it, so the cast is
 * safe.
 */
export const meteredIn = ({ event }: Pick<Commit, 'event'>): readonly Metered[] => {
  const metered: Json | undefined = event.metered
  const all: readonly Json[] = Array.isArray(metered) ? metered : [metered ?? null]
  return all.filter(isObject) as unknown as readonly Metered[]
}
