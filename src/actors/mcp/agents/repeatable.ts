import type { ServerTool } from '#actors/capability/agent-resources.ts'
import type { ToolDefinition } from '#machines/mcp-server/known-tools.ts'

/** Whether a call may be repeated after a crash. A server's hints about its tool are used for nothing else. */
export const repeatable = ({ annotations }: Pick<ToolDefinition, 'annotations'>): ServerTool['effect'] =>
  annotations?.readOnlyHint === true || annotations?.idempotentHint === true ? 'idempotent' : 'at_most_once'
