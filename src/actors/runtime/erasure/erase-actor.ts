import type { Storage } from '#storage/ports.ts'
import { actorBlobs } from '../blobs/blob-owner.ts'
import { type Clock, pause } from '../clock.ts'
import type { EffectContext, IdempotentEffect } from '../effects/effects.ts'
import { markErased, readHead } from './erased-actors.ts'

/**
 * A write that was sent before the removal may arrive this long after it, in ms; the log is then removed once more. If
 * this process ends before, the next one does it (`removeLate`).
 */
const lateMs = 30_000

/** Ignores a failure: a process that comes across a leftover removes it (erased-actors.ts). */
const leaveIt = (): void => {}

/** Dependencies of `eraseActor`. */
export interface EraseParts {
  readonly storage: Pick<Storage, 'commits' | 'records' | 'blobs'>
  readonly clock: Clock
}

/**
 * Creates the effect that removes the log of a deleted actor, and the blobs that belong to it. It waits until all
 * messages of the actor are delivered, and until no replaced process can still be running: until then the log is the
 * fence that stops such a process.
 *
 * @param beside removes what the actor keeps outside of its log; runs before the removal of the log, and again after a
 *   crash.
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
    await markErased(storage.records, { actor, made: owner.createdAt, now: clock.now() })
    const remove = async (): Promise<void> => {
      await storage.commits.forget(actor)
      await storage.blobs.remove(owner.project, actorBlobs({ actor, tenant: owner.tenant }))
    }
    const removeLate = async (): Promise<void> => {
      const { head, isLeftOver } = await readHead(storage, actor)
      // an actor that was made again since stays
      if (head === null || isLeftOver) await remove()
    }
    await remove()
    clock.after(lateMs, () => void removeLate().catch(leaveIt))
    return 'gone'
  },
})
