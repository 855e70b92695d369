import type { Json, JsonObject } from '#specs/dsl/json.ts'
import { fieldChanges } from './field-changes.ts'

/** A tool as its server defines it. */
export type ToolDefinition = {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonObject
  /** The server's hints about the tool's behaviour; null for none. */
  readonly annotations: JsonObject | null
  /** SHA-256 of all fields above. */
  readonly hash: string
}

/** Whether agents see a tool: only `active` tools are visible. */
type ToolState = 'active' | 'pending_review' | 'disabled'

/** A person's decision on a tool. `at` in ms since the epoch. */
export type ToolReview = {
  readonly decision: 'approve' | 'reject'
  readonly reason: string | null
  readonly by: { readonly kind: string; readonly id: string | null }
  readonly at: number
}

/** A tool in the snapshot of a server. */
export type KnownTool = ToolDefinition & {
  readonly state: ToolState
  /** The definition that was last active; null before the first. */
  readonly approved: ToolDefinition | null
  readonly review: ToolReview | null
}

/** One difference between two definitions. */
export type FieldChange = { readonly path: string; readonly before: Json; readonly after: Json }

/** A tool whose definition changed. */
type ChangedTool = { readonly name: string; readonly changes: readonly FieldChange[] }

/** A tool that was skipped, and the reason. */
export type SkippedTool = { readonly name: string; readonly reason: string }

/** Differences between a discovery and the previous snapshot. */
export type ToolChanges = {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly ChangedTool[]
  readonly skipped: readonly SkippedTool[]
}

/** Changes without any difference. */
export const noChanges: ToolChanges = { added: [], removed: [], changed: [], skipped: [] }

/**
 * Returns the snapshot after a discovery. A new or changed tool waits for review, unless its definition is the approved
 * one. Unchanged tools keep their state, and so does a tool that a person disabled.
 *
 * @param trusted whether new tools become active without review.
 */
export const merged = (
  before: readonly KnownTool[],
  found: readonly ToolDefinition[],
  trusted: boolean,
): readonly KnownTool[] => {
  const known = new Map(before.map((tool) => [tool.name, tool]))
  return found.map((definition) => {
    const old = known.get(definition.name)
    if (old === undefined) {
      const approved = trusted ? definition : null
      return { ...definition, state: trusted ? 'active' : 'pending_review', approved, review: null }
    }
    if (old.hash === definition.hash) return old
    const { approved, review } = old
    if (old.state === 'disabled') return { ...definition, state: 'disabled', approved, review }
    const state = approved?.hash === definition.hash ? 'active' : 'pending_review'
    return { ...definition, state, approved, review }
  })
}

/** Returns how a discovery differs from a snapshot. */
export const changesOf = (
  before: readonly KnownTool[],
  found: readonly ToolDefinition[],
  skipped: readonly SkippedTool[],
): ToolChanges => {
  const known = new Map(before.map((tool) => [tool.name, tool]))
  const names = new Set(found.map(({ name }) => name))
  return {
    added: found.filter(({ name }) => !known.has(name)).map(({ name }) => name),
    removed: before.filter(({ name }) => !names.has(name)).map(({ name }) => name),
    changed: found.flatMap((definition) => {
      const old = known.get(definition.name)
      if (old === undefined || old.hash === definition.hash) return []
      return [{ name: definition.name, changes: definitionChanges(old, definition) }]
    }),
    skipped,
  }
}

/**
 * Returns the differences between a tool and its approved definition, for its reviewer; null where none was approved.
 */
export const changesSinceApproval = (tool: KnownTool): readonly FieldChange[] | null =>
  tool.approved === null ? null : definitionChanges(tool.approved, tool)

const definitionChanges = (before: ToolDefinition, after: ToolDefinition): readonly FieldChange[] =>
  fieldChanges(shown(before), shown(after))

const shown = ({ description, input_schema, annotations }: ToolDefinition): JsonObject => ({
  description,
  input_schema,
  annotations,
})

/** Returns the snapshot after a person's decision on one tool. */
export const reviewed = (tools: readonly KnownTool[], name: string, review: ToolReview): readonly KnownTool[] =>
  tools.map((tool) => {
    if (tool.name !== name) return tool
    if (review.decision === 'reject') return { ...tool, state: 'disabled', review }
    const { description, input_schema, annotations, hash } = tool
    return { ...tool, state: 'active', approved: { name, description, input_schema, annotations, hash }, review }
  })
