import type { JsonObject } from '#storage/ports.ts'
import type { FactData } from '../kinds.ts'

/** An exchange to remember, as its write keeps it. */
export type StoredExchange = {
  readonly user: string
  readonly assistant: string
  readonly recalled: readonly string[]
  readonly at_ms: number
  readonly scope: 'user' | 'session'
  readonly session: string | null
  readonly namespace: string | null
  readonly importance: number | null
  readonly metadata: JsonObject
  /** Given by the caller: no model is called then. */
  readonly facts: readonly FactData[] | null
  readonly model: string | null
  readonly prompt: string | null
  readonly min_importance: number | null
}

/** The exchange of a write. Only `exchangeInput` writes it. */
export const exchangeOf = (stored: JsonObject): StoredExchange => stored as unknown as StoredExchange

/** The facts of a write. Only its effect writes them. */
export const factsOfWrite = (stored: readonly JsonObject[]): readonly FactData[] =>
  stored as unknown as readonly FactData[]
