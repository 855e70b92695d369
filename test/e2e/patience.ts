/**
 * For what comes within a moment when nothing else runs: a machine that is shared stands still for seconds at a time, and
 * a test that waits for an event loses nothing by waiting longer.
 */
export const patience = { timeout: 60_000, interval: 50 } as const
