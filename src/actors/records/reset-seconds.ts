import type { LimitState } from '#storage/index.ts'

/**
 * Returns the seconds until the next unit of a limit becomes available. A window is counted in parts, so a unit may
 * become available one part later than the window says: callers get at most the window.
 */
export const resetSeconds = ({ resetMs }: Pick<LimitState, 'resetMs'>, windowMs: number): number =>
  Math.ceil(Math.min(resetMs, windowMs) / 1000)
