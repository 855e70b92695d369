import type { McpServerContext } from '#machines/mcp-server/mcp-server.ts'
import type { BoundTo } from '#outgoing/credential-address.ts'
import type { Status } from '#specs/statuses.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'
import { agentCalls } from './remote-agents/agent-calls.ts'

/** Data of a server's list row (`mcpServerDefinition.row`). */
export type ServerRowData = Omit<
  McpServerContext,
  'server_id' | 'tools' | 'changes' | 'lists' | 'attempts' | 'awaits'
> & {
  readonly tenant_id: string | null
  readonly status: Status<'mcp_server'>
}

/** Headers of one server: `sealed` is the encrypted JSON of names and values. They are sent to this address only. */
export type ServerHeadersData = BoundTo & { readonly sealed: string }

/** List rows of servers. */
export const serverRows: TypedKind<ServerRowData> = { name: 'mcp_servers', filters: ['status'] }

/** Encrypted headers of servers, stored under the server's id. */
export const serverHeaders: TypedKind<ServerHeadersData> = {
  name: 'mcp_server_headers',
  exported: null,
  sealed: [
    {
      field: 'sealed',
      aad: ({ project, id }) => serverHeadersAad(project, id),
      instead: null,
      sentTo: ['url'],
      loss: 'headers of a remote tool server: set them again',
    },
  ],
}

/** All kinds of this folder, for `RecordStore.prepare`. */
export const mcpKinds: readonly AnyKind[] = [serverRows, serverHeaders, agentCalls]

/** Returns the additional authenticated data with which the headers of a server are encrypted. */
export const serverHeadersAad = (project: string, id: string): string => `${project}|mcp_server_headers|${id}`
