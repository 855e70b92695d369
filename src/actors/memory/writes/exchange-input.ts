import type { JsonObject } from '#storage/index.ts'
import type { MemoryPlace } from '../indexes/memory-place.ts'
import type { FactData } from '../kinds.ts'
import type { StoredExchange } from './schema.ts'

/** An exchange to remember, and how. */
export interface NewExchange {
  readonly user: string
  readonly assistant: string
  readonly place: MemoryPlace
  /** ms since the epoch. */
  readonly at: number
  readonly recalled?: readonly string[] | undefined
  readonly importance?: number | undefined
  readonly metadata?: JsonObject | undefined
  readonly facts?: readonly FactData[] | undefined
  readonly model?: string | undefined
  readonly models?: readonly string[] | undefined
  readonly guardrails?: readonly string[] | undefined
  readonly prompt?: string | undefined
  readonly minImportance?: number | undefined
}

/** Maximum number of characters that are read of each side. */
const maxCharacters = 32_768

/** Returns an exchange in the form that its write stores. */
export const exchangeInput = (exchange: NewExchange): StoredExchange & JsonObject => ({
  user: exchange.user.slice(0, maxCharacters),
  assistant: exchange.assistant.slice(0, maxCharacters),
  recalled: exchange.recalled ?? [],
  at_ms: exchange.at,
  ...exchange.place,
  importance: exchange.importance ?? null,
  metadata: exchange.metadata ?? {},
  facts: exchange.facts ?? null,
  model: exchange.model ?? null,
  ...(exchange.models !== undefined && { models: exchange.models }),
  ...(exchange.guardrails !== undefined && { guardrails: exchange.guardrails }),
  prompt: exchange.prompt ?? null,
  min_importance: exchange.minImportance ?? null,
})
