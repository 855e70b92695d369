import type { LogEvent } from '#storage/ports.ts'

/** What has to hold of one actor's log, event by event. */
export interface LogRules {
  /** The log says that something goes on or waits. */
  readonly open: boolean
  /** @returns what the event breaks; null for nothing. */
  take(event: LogEvent): string | null
}

/** For actors whose logs have no rules of their own. */
export const noRules: LogRules = { open: false, take: () => null }
