import type { JsonObject } from '#storage/ports.ts'
import type { VersionStatus, AgentConfig as WrittenConfig } from './kinds.ts'

/*
 * What our own commits and rows hold comes back as the type that was written: they are written by the machine and by
 * this folder only, after validation, and a machine's version guards their shape.
 */

/** What an agent runs on as its author wrote it, with fields that we do not know. */
export type Manifest = WrittenConfig & JsonObject

/** The state of a version's machine. */
export const versionStatus = (value: unknown): VersionStatus => value as VersionStatus

/** A version's config, read back from its context. */
export const manifestOf = (config: string): Manifest => JSON.parse(config) as Manifest

/** An agent's own config under the same type. */
export const manifestOfAgent = (config: WrittenConfig): Manifest => config as Manifest

/** Any JSON object, read back from its text. */
export const jsonObjectOf = (text: string): JsonObject => JSON.parse(text) as JsonObject

/** What a test of a draft showed, as the interface answers it. */
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

/** The evidence that a draft keeps. */
export const testEvidence = (text: string): TestEvidence => JSON.parse(text) as TestEvidence
