import type { JsonObject } from '#storage/index.ts'
import type { AgentConfig as WrittenConfig } from './kinds.ts'

/*
 * Casts for data that is read back from our own commits and rows. Only the machine and this folder write that data,
 * after validation, and the version of a machine guards its shape.
 */

/** An agent's config as its author wrote it, including unknown fields. */
export type Manifest = WrittenConfig & JsonObject

/** A version's config, read back from its context. */
export const manifestOf = (config: string): Manifest => JSON.parse(config) as Manifest

/** An agent's own config as a manifest. */
export const manifestOfAgent = (config: WrittenConfig): Manifest => config as Manifest

/** A JSON object, parsed from its text. */
export const jsonObjectOf = (text: string): JsonObject => JSON.parse(text) as JsonObject

/** Result of a test of a draft, as the API returns it. */
export type TestEvidence = {
  readonly passed: boolean
  readonly input: string
  readonly output: string
  readonly tool_calls: readonly { readonly tool: string; readonly arguments: string }[]
  readonly model: string
  readonly usage: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly total_tokens: number
    readonly cost_usd: string | null
  } | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly tested_by: string
  readonly tested_at: string
}

/** The test result of a draft, read back from its context. */
export const testEvidence = (text: string): TestEvidence => JSON.parse(text) as TestEvidence
