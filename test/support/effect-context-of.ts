import type { EffectContext } from '#runtime/effects/effects.ts'
import type { JsonObject } from '#storage/ports.ts'

/** The context of an effect of an actor of `prj_a` that nothing ends. */
export const effectContextOf = (actor: string, context: JsonObject): EffectContext => ({
  ...{ actor, context, owner: { project: 'prj_a', tenant: null, user: null, createdAt: 0 } },
  ...{ idempotencyKey: 'key', signal: new AbortController().signal, part: async () => {}, show: () => {} },
  ...{ aloneAt: 0, delivered: async () => {} },
})
