import type { Infer } from '#specs/dsl/schema.ts'
import type { mcpTool } from '#specs/tools.ts'
import type { ServerTool, ServerToolCall, ToolOutcome } from './agent-resources.ts'
import { Port } from './port.ts'

/** Declaration of a remote tool server in a turn. */
export type RemoteDeclaration = Infer<typeof mcpTool>

/** Owner of the turn, and where the request declares the server. */
export interface RemotePlace {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user. */
  readonly user: string | null
  /** Path of the declaration in the request's body. */
  readonly param: string
}

/** Tools of remote servers, for turns that declare such a server. */
export interface RemoteTools {
  /**
   * Returns the tools of a declared server.
   * @throws {ServiceError} `invalid_field` for a server that does not exist or is not connected; `mcp_server_failed`.
   */
  offer(place: RemotePlace, declared: RemoteDeclaration): Promise<readonly ServerTool[]>
  /** Calls a tool for a response, which cannot wait for people. Never throws for an external failure. */
  call(call: ServerToolCall): Promise<ToolOutcome>
}

/** Tools of remote servers, for turns that declare such a server. */
export const remoteTools = new Port<RemoteTools>('the tools of remote servers')
