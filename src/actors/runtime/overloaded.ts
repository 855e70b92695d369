import { StoreUnavailable } from '#storage/ports.ts'

/**
 * The store answers, but the work that a request waits for was not done within the request's time limit: there is more
 * work than capacity. The request may be retried, as after an outage of the store.
 *
 * @example
 * if (error instanceof Overloaded) return answer(503, { retryAfter: 1 })
 */
export class Overloaded extends StoreUnavailable {}
