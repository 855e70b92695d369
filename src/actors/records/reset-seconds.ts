import type { LimitState } from '#storage/cluster-ports.ts'

/**
 * Seconds until the next unit of a limit comes back. A window is counted in parts, so that a unit may come back a part later
 * than its window says: callers are given the window.
 */
export const resetSeconds = ({ resetMs }: Pick<LimitState, 'resetMs'>, windowMs: number): number =>
  Math.ceil(Math.min(resetMs, windowMs) / 1000)
