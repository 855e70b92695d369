import { StoreUnavailable } from '#storage/ports.ts'

/**
 * A later process has taken the actor over: this one may no longer commit for it, start its effects, or answer for it.
 */
export class Superseded extends StoreUnavailable {}

/**
 * This process does not run the actor, or may not start anything new for it now: the process that runs it gets the
 * request, with the same cause. The state in memory may no longer be used.
 */
export class NotOwner extends Superseded {}
