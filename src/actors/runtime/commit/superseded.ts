import { StoreUnavailable } from '#storage/ports.ts'

/** A later process has taken the actor over: this one may not move it, start its effects or answer for it any more. */
export class Superseded extends StoreUnavailable {}

/**
 * This process does not run the actor, or nothing new of it now: the process that does gets the request, with the same cause.
 * Nothing may be built on what is in memory.
 */
export class Elsewhere extends Superseded {}
