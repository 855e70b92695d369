import type { Storage } from '#storage/ports.ts'
import { actorBlobs } from '../blobs/blob-owner.ts'
import { type Clock, pause } from '../clock.ts'
import type { EffectContext, IdempotentEffect } from '../effects/effects.ts'
import { markErased } from './erased-actors.ts'

/**
 * A write that was sent before the removal may come in so long after it, in ms; it is removed once more then. When this process
 * ends before, the next one does it (`removeLate`).
 */
const lateMs = 30_000

/** A process that touches what is left removes it (runtime/erased-actors.ts). */
const leaveIt = (): void => {}

/** What removing an actor's log needs. */
export interface EraseParts {
  readonly storage: Pick<Storage, 'commits' | 'records' | 'blobs'>
  readonly clock: Clock
}

/**
 * Removes the log of an actor that is deleted, and the blobs that are its own, once all that it has sent is taken, and once no process that was replaced
 * goes on: until then the log is the fence that stops it.
 *
 * @param beside removes what the actor keeps outside of its log; done before, and again after a crash.
 */
export const eraseActor = (
  { storage, clock }: EraseParts,
  beside: (context: EffectContext) => Promise<void> = async () => {},
): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context) => {
    const { actor, owner, delivered, signal, aloneAt } = context
    await delivered()
    const left = aloneAt - clock.steady()
    if (left > 0) await pause(clock, left, signal)
    await beside(context)
    await markErased(storage.records, { actor, now: clock.now() })
    const remove = async (): Promise<void> => {
      await storage.commits.forget(actor)
      await storage.blobs.remove(owner.project, actorBlobs({ actor, tenant: owner.tenant }))
    }
    await remove()
    clock.after(lateMs, () => void remove().catch(leaveIt))
    return 'gone'
  },
})
