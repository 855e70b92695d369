import type { JsonObject, StoredEvent } from './json.ts'
import type { EffectPolicy } from './vocabulary.ts'

/**
 * An effect that has no result yet. `started`: an at-most-once call was begun. `progress`: number of stream parts
 * already journaled. `failures`: how often it threw, or its process ended without a result while it ran. `alone`: it
 * may have crashed its process, so it is started separately from other effects, with few others or alone. `text`: length of
 * the turn's text when it was declared, if it streams text.
 */
export interface InFlight {
  readonly name: string
  readonly params: JsonObject
  readonly policy: EffectPolicy
  readonly started?: boolean
  readonly progress?: number
  readonly failures?: number
  readonly alone?: boolean
  readonly text?: number
}

/** A durable timer. `due` is in ms since the epoch; its event is delivered with the cause `<name>:<n>`. */
export interface Reminder {
  readonly due: number
  readonly event: StoredEvent
  readonly n: number
}

/** An actor's timers, by name. */
export type Reminders = Readonly<Record<string, Reminder>>

/** An actor's effects without a result, by effect id. */
export type FlightsInProgress = Readonly<Record<string, InFlight>>
