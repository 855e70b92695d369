import { StoreUnavailable } from '#storage/ports.ts'

/**
 * The store answers, and what a request waits for is still not done in the time that a request has: there is more to do than
 * gets done. It may be sent again, as when the store is away.
 */
export class Overloaded extends StoreUnavailable {}
