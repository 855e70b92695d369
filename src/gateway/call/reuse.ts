import type { RedactionPolicy } from './redaction.ts'

/** How a call used the stored answers of its project. */
export interface Reuse {
  /** `bypass`: stored answers were not read, by a rule or because the caller says so. */
  readonly status: 'hit' | 'miss' | 'bypass'
  /** Cost of the stored answer when it was made, in USD as decimal text; null: unknown, or no hit. */
  readonly savedUsd: string | null
  /** Age of the stored answer in seconds; null: no hit. */
  readonly ageS: number | null
}

/** Headers by which a caller decides about stored answers, guardrails and routing. */
export interface CacheHeaders {
  /** `X-Guardrails`: names of guardrails in addition to those of the project. */
  readonly guardrails?: string | undefined
  /** `X-Route-Tags`: tags for the rules of the routing policy. */
  readonly routeTags?: string | undefined
  /** `Cache-Control`. */
  readonly cacheControl?: string | undefined
  /** `X-Cache`: another mode than that of the project. */
  readonly cacheMode?: string | undefined
}

/** The headers of an answer that say whether it was stored; none for a project that stores none. */
export const reuseHeaders = (reuse: Reuse | null): readonly (readonly [name: string, value: string])[] => {
  if (reuse === null) return []
  const { status, ageS } = reuse
  return [['x-cache', status] as const, ...(ageS === null ? [] : [['age', String(ageS)] as const])]
}

/** How a project reuses answers; one that stores none has no such policy. */
export interface CachePolicy {
  readonly mode: 'on_request' | 'exact' | 'semantic'
  readonly ttlMs: number
  readonly threshold: number
  readonly anyTemperature: boolean
  /** Compares questions in other words; null: only those with the same distinct words are compared. */
  readonly judge: QuestionJudge | null
}

/** A model that decides whether two questions have the same answer. */
export interface QuestionJudge {
  readonly model: string
  /** Least similarity of questions that it compares. */
  readonly threshold: number
  readonly timeoutMs: number
}

/** What applies to the calls of a project. */
export interface CallPolicies {
  /** null: nothing is redacted. */
  readonly redaction: RedactionPolicy | null
  /** null: no answer is stored. */
  readonly cache: CachePolicy | null
}
