import type { LogEvent } from '#storage/ports.ts'

/** What has to hold for the log of one actor, event by event. */
export interface LogRules {
  /** Whether something is in progress or waits, according to the log. */
  readonly open: boolean
  /** @returns what the event violates; null for nothing. */
  take(event: LogEvent): string | null
}

/** For actors without log rules. */
export const noRules: LogRules = { open: false, take: () => null }
