/**
 * Limits for waiting for an event that usually comes at once: a shared machine can stand still for seconds at a time, and
 * a longer limit costs a passing test nothing. A shorter interval costs requests: many tests wait at a time.
 */
export const patience = { timeout: 60_000, interval: 100 } as const
