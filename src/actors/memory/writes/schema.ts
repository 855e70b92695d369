import type { Row } from '#records/schema.ts'
import type { JsonObject } from '#storage/index.ts'
import type { FactData, MemoryData } from '../kinds.ts'

/** An exchange to remember, as its write stores it. */
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
  /** Facts given by the caller; with them no model is called. */
  readonly facts: readonly FactData[] | null
  readonly model: string | null
  /** The only models that may extract facts, for the request of a limited key; absent: any. */
  readonly models?: readonly string[]
  /** Guardrails of the call, in addition to those of the project; absent: none. */
  readonly guardrails?: readonly string[]
  readonly prompt: string | null
  readonly min_importance: number | null
}

/** Returns the exchange of a write. Only `exchangeInput` creates it. */
export const exchangeOf = (stored: JsonObject): StoredExchange => stored as unknown as StoredExchange

/** Returns the facts of a write. Only its effect stores them. */
export const factsOfWrite = (stored: readonly JsonObject[]): readonly FactData[] =>
  stored as unknown as readonly FactData[]

/** Returns the memories of a decided write. Only `DecidedWrites` stores them. */
export const rowsOfWrite = (stored: readonly JsonObject[]): readonly Row<MemoryData>[] =>
  stored as unknown as readonly Row<MemoryData>[]
