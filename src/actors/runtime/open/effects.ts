import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import type { Effect, EffectContext } from '../effects/effects.ts'
import { checkedEvent } from './plain-data.ts'

/**
 * Does the work of an action outside of the machine, and returns the event for the machine. A failure that the machine
 * should know is an event too; after a throw the policy decides.
 */
export type Work = (params: JsonObject, context: EffectContext) => Promise<StoredEvent>

/** The event for a machine when the result of an effect is lost. */
export type LostEvent = (params: JsonObject) => StoredEvent

/**
 * Declares an effect that may run more than once under the same `idempotencyKey`. It is run again after a crash, and
 * after a throw a second and ten seconds later; the third throw parks its actor until `retry`. A service that may be
 * away for longer is an event of its own, with an `after` that tries again.
 *
 * @example
 * const charge = idempotent(async ({ amount }, { idempotencyKey }) => {
 *   const receipt = await payments.charge(amount, { idempotencyKey })
 *   return { type: 'charged', receipt }
 * })
 */
export const idempotent = (work: Work): Effect => ({ policy: 'idempotent', run: eventOf(work) })

/**
 * Declares an effect that is never started twice. If its result is lost, in a crash or by a throw, the machine gets the
 * event `lost`.
 *
 * @example
 * const print = atMostOnce(
 *   async ({ label }) => ({ type: 'printed', page: await printer.print(label) }),
 *   () => ({ type: 'print_uncertain' }),
 * )
 */
export const atMostOnce = (work: Work, lost: LostEvent): Effect => ({
  policy: 'at_most_once',
  run: eventOf(work),
  unknown: lost,
  tooLarge: lost,
})

const eventOf =
  (work: Work): Effect['run'] =>
  async (params, context) => {
    // copies: the actor goes on from its own
    const given = structuredClone({ params, context: context.context })
    return { event: checkedEvent(await work(given.params, { ...context, context: given.context })) }
  }
