import { changesSinceApproval, type KnownTool, noChanges, type ToolChanges } from '#machines/mcp-server/known-tools.ts'
import type { McpServerContext } from '#machines/mcp-server/mcp-server.ts'
import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import { noLists, type ServerLists } from '#machines/mcp-server/server-lists.ts'
import type { ResultOf } from '#specs/index.ts'
import type { TextFinding } from '../capability/text-scan.ts'
import { rowTimes, timestampOf, timestampOrNull } from '../records/row-times.ts'
import { type Row, rowOf } from '../records/schema.ts'
import { contextOf } from '../runtime/index.ts'
import { type Resident, rowRecord } from '../runtime/internal.ts'
import { type ServerRowData, serverRows } from './kinds.ts'

/** A server as the API returns it. */
export type ServerView = ResultOf<'mcp_servers.get'>

/** A tool as the API returns it. */
export type ToolView = ResultOf<'mcp_servers.review_tool'>

/** Returns the server of a list row. */
export const serverView = (row: Row<ServerRowData>): ServerView => {
  const { data } = row
  return {
    id: row.id,
    name: data.name,
    url: data.url,
    transport: data.transport,
    timeout_ms: data.timeout_ms,
    tenant_id: data.tenant_id,
    trust: data.trust,
    header_names: [...data.header_names],
    auth: data.auth,
    status: data.status,
    error: data.error,
    failing_since: timestampOrNull(data.failing_since_ms),
    protocol_version: data.protocol_version,
    transport_used: data.transport_used,
    server_info: data.server_info === null ? null : JSON.parse(data.server_info),
    tool_count: data.tool_count,
    pending_review_count: data.pending_count,
    hash: data.hash,
    snapshot_at: timestampOrNull(data.snapshot_at_ms),
    ...rowTimes(row),
  }
}

/** Returns the server of an actor. */
export const residentView = (resident: Resident): ServerView => serverView(rowOf(serverRows, rowRecord(resident)))

/** Returns the context of a server's actor. */
export const serverContext = (resident: Resident): McpServerContext =>
  contextOf(mcpServerDefinition, resident.state.snapshot)

/** Returns a tool as the API returns it. */
export const toolView = (tool: KnownTool, findings: readonly TextFinding[]): ToolView => {
  const { name, description, input_schema, annotations, hash, state, review } = tool
  const shown = review && { ...review, by: { ...review.by }, at: timestampOf(review.at) }
  const changes = changesSinceApproval(tool)
  return { name, description, input_schema, annotations, hash, state, changes, review: shown, findings: [...findings] }
}

/** Returns the resources and prompts of a server. */
export const listsView = ({ lists }: McpServerContext): ServerLists => (lists === null ? noLists : JSON.parse(lists))

/** Returns the changes that the latest discovery found. */
export const newestChanges = ({ changes }: McpServerContext): ToolChanges =>
  changes === null ? noChanges : JSON.parse(changes)
