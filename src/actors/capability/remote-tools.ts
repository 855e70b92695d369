import type { Infer } from '#specs/dsl/schema.ts'
import type { mcpTool } from '#specs/tools.ts'
import type { ServerTool, ServerToolCall, ToolOutcome } from './agent-resources.ts'
import { Port } from './port.ts'

/** A remote server of tools, as a turn names it. */
export type RemoteDeclaration = Infer<typeof mcpTool>

/** Whose turn it is, and where in the request the server is named. */
export interface RemotePlace {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user. */
  readonly user: string | null
  /** Path of the declaration in the request's body. */
  readonly param: string
}

/** What remote servers bring to turns that name them. */
export interface RemoteTools {
  /** @throws {ServiceError} `invalid_field` for a server that is not there or not connected to; `mcp_server_failed`. */
  offer(place: RemotePlace, declared: RemoteDeclaration): Promise<readonly ServerTool[]>
  /** Calls one of them for a response, which does not wait for people. Never throws for a failure of the world. */
  call(call: ServerToolCall): Promise<ToolOutcome>
}

/** What remote servers bring to turns that name them. */
export const remoteTools = new Port<RemoteTools>('the tools of remote servers')
