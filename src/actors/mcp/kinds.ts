import type { McpServerContext } from '#machines/mcp-server/mcp-server.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'

/** What the list row of a server holds (`mcpServerDefinition.row`). */
export type ServerRowData = Omit<McpServerContext, 'server_id' | 'tools' | 'changes' | 'lists' | 'attempts'> & {
  readonly tenant_id: string | null
  readonly status: 'discovering' | 'active' | 'failing' | 'disabled'
}

/** The headers of one server: `sealed` is JSON of names and values. They go to this origin only. */
export type ServerHeadersData = { readonly origin: string; readonly sealed: string }

/** List rows of servers. */
export const serverRows: TypedKind<ServerRowData> = { name: 'mcp_servers', filters: ['status'] }

/** Sealed headers of servers, under the server's id. */
export const serverHeaders: TypedKind<ServerHeadersData> = {
  name: 'mcp_server_headers',
  exported: null,
  sealed: [
    {
      field: 'sealed',
      aad: ({ project, id }) => serverHeadersAad(project, id),
      instead: null,
      loss: 'headers of a remote tool server: set them again',
    },
  ],
}

/** All kinds of this folder, for `RecordStore.prepare`. */
export const mcpKinds: readonly AnyKind[] = [serverRows, serverHeaders]

/** What the headers of a server are sealed for. */
export const serverHeadersAad = (project: string, id: string): string => `${project}|mcp_server_headers|${id}`
