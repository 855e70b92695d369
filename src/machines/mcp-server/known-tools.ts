import type { Json, JsonObject } from '#specs/dsl/json.ts'
import { fieldChanges } from './field-changes.ts'

/** What a server says of one tool. */
export type ToolDefinition = {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonObject
  /** Hints of the server about what the tool does; null for none. */
  readonly annotations: JsonObject | null
  /** SHA-256 of all of the above. */
  readonly hash: string
}

/** Whether agents see a tool. */
export type ToolState = 'active' | 'pending_review' | 'disabled'

/** Who decided about a tool, and when in ms since the epoch. */
export type ToolReview = {
  readonly decision: 'approve' | 'reject'
  readonly reason: string | null
  readonly by: { readonly kind: string; readonly id: string | null }
  readonly at: number
}

/** A tool of the snapshot. */
export type KnownTool = ToolDefinition & {
  readonly state: ToolState
  /** The definition that was active last; null before the first. */
  readonly approved: ToolDefinition | null
  readonly review: ToolReview | null
}

/** One difference of two definitions. */
export type FieldChange = { readonly path: string; readonly before: Json; readonly after: Json }

/** A tool that the server defines otherwise than before. */
export type ChangedTool = { readonly name: string; readonly changes: readonly FieldChange[] }

/** A tool that was not taken, and why. */
export type SkippedTool = { readonly name: string; readonly reason: string }

/** What a discovery found other than the one before. */
export type ToolChanges = {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly ChangedTool[]
  readonly skipped: readonly SkippedTool[]
}

/** No difference. */
export const noChanges: ToolChanges = { added: [], removed: [], changed: [], skipped: [] }

/**
 * The snapshot after a discovery. A tool that is new or defined otherwise waits for a review; one that is defined as it
 * was approved is what it was, and one that a person disabled stays so.
 *
 * @param trusted new tools are active at once.
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

/** How two snapshots differ. */
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

/** What a person who reviews a tool reads: how it differs from what was approved; null where nothing was. */
export const changesSinceApproval = (tool: KnownTool): readonly FieldChange[] | null =>
  tool.approved === null ? null : definitionChanges(tool.approved, tool)

const definitionChanges = (before: ToolDefinition, after: ToolDefinition): readonly FieldChange[] =>
  fieldChanges(shown(before), shown(after))

const shown = ({ description, input_schema, annotations }: ToolDefinition): JsonObject => ({
  description,
  input_schema,
  annotations,
})

/** The snapshot after a person's decision about one tool. */
export const reviewed = (tools: readonly KnownTool[], name: string, review: ToolReview): readonly KnownTool[] =>
  tools.map((tool) => {
    if (tool.name !== name) return tool
    if (review.decision === 'reject') return { ...tool, state: 'disabled', review }
    const { description, input_schema, annotations, hash } = tool
    return { ...tool, state: 'active', approved: { name, description, input_schema, annotations, hash }, review }
  })
