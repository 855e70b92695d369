import type { Metered } from '#gateway/turns/metered.ts'
import type { Commit, Json } from '#storage/ports.ts'
import { isObject } from '../runtime/schema.ts'

/** What the commit's event says was metered; only `metered` makes it, so what is read is what was written. */
export const meteredIn = ({ event }: Pick<Commit, 'event'>): Metered | null => {
  const said: Json | undefined = event.metered
  return isObject(said) ? (said as unknown as Metered) : null
}
