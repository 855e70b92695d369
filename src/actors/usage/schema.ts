import type { Metered } from '#gateway/turns/metered.ts'
import type { Commit, Json } from '#storage/index.ts'
import { isObject } from '../runtime/index.ts'

/** The metered usage in the event of a commit; null without one. Only `metered` produces it, so the cast is safe. */
export const meteredIn = ({ event }: Pick<Commit, 'event'>): Metered | null => {
  const metered: Json | undefined = event.metered
  return isObject(metered) ? (metered as unknown as Metered) : null
}
