import type { ServerTool } from '#actors/capability/agent-resources.ts'
import type { ToolDefinition } from '#machines/mcp-server/known-tools.ts'

/** What a server says that its tool only reads is taken for a hint of whether a call may be repeated, and for nothing else. */
export const repeatable = ({ annotations }: Pick<ToolDefinition, 'annotations'>): ServerTool['effect'] =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true ? 'idempotent' : 'at_most_once'
