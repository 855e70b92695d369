import type { Infer } from '#specs/dsl/schema.ts'
import type { promptTemplate } from '#specs/resources/gateway/shapes/prompt-shapes.ts'
import type { AuditActor } from '../records/audit-note.ts'
import type { TypedKind } from '../records/schema.ts'

/** What a version contains, without absent fields. */
export type PromptTemplate = {
  readonly messages: Infer<typeof promptTemplate.messages>
  readonly variables?: { readonly [name: string]: string }
  readonly model?: string
  readonly temperature?: number
  readonly top_p?: number
  readonly max_output_tokens?: number
}

/** A version of a prompt. */
export type PromptVersionData = {
  /** Of the request that created it: a repeated one creates no second version. */
  readonly id: string
  readonly number: number
  readonly template: PromptTemplate
  readonly description: string | null
  readonly created_by: AuditActor
  readonly created_at_ms: number
}

export type PromptData = {
  readonly name: string
  readonly description: string | null
  /** null: the newest version. */
  readonly default_version: string | null
  /** Number of the latest version; 0 before the first. */
  readonly latest: number
  /** Oldest first. In the row, so that a prompt and its versions are changed and deleted in one write. */
  readonly versions: readonly PromptVersionData[]
}

/** Prompts of projects. */
export const promptKind: TypedKind<PromptData> = {
  name: 'prompts',
  unique: [{ fields: ['name'] }],
  outbox: true,
}
