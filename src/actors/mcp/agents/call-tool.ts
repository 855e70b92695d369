import type { ServerToolCall, ToolOutcome } from '#actors/capability/agent-resources.ts'
import type { ConnectionService } from '#actors/capability/connection-service.ts'
import { statusOf } from '#machines/index.ts'
import type { KnownTool } from '#machines/mcp-server/known-tools.ts'
import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import type { Resident } from '#runtime/internal.ts'
import { callTimeoutMs } from '#specs/resources/mcp/mcp-limits.ts'
import type { StoredEvent } from '#storage/index.ts'
import type { McpTarget } from '../client/mcp-connection.ts'
import { McpFailure, type McpFailureCode } from '../client/mcp-failure.ts'
import type { McpServers } from '../mcp-servers.ts'
import { type AgentCallParts, callAgent } from '../remote-agents/call-agent.ts'
import { withAuth } from '../server-auth.ts'
import type { ServerHeaders } from '../server-headers.ts'
import { serverContext } from '../server-view.ts'
import { callWithInput, type InputParts } from './input/call-with-input.ts'

export interface CallParts extends AgentCallParts {
  readonly held: InputParts['held']
  readonly headers: Pick<ServerHeaders, 'open'>
  readonly connections: ConnectionService
  readonly servers: Pick<McpServers, 'give'>
}

/** Failure codes that give no evidence about whether the server works. */
const ofTheCall: ReadonlySet<McpFailureCode> = new Set([
  'cancelled',
  'bad_answer',
  'request_refused',
  'insufficient_scope',
])

/** Calls a tool of a registered server, and records in the server's state whether the call showed it to work. */
export const callRegistered = async (
  parts: CallParts,
  call: ServerToolCall,
  { server, tool }: { readonly server: Resident; readonly tool: KnownTool },
): Promise<ToolOutcome> => {
  const { name, url, transport, timeout_ms, auth } = serverContext(server)
  const headers = await parts.headers.open({ project: server.owner.project, id: server.id, url })
  const status = statusOf(mcpServerDefinition, server.state.snapshot)
  try {
    const { project, tenant, user } = call
    const outcome = await withAuth(
      parts.connections,
      { server: { auth, url }, caller: { project, tenant, user } },
      (own) => {
        const target = { url, transport, headers: { ...headers, ...own } }
        const request = { server: name, target, tool, timeoutMs: timeout_ms }
        return transport === 'a2a'
          ? callAgent(parts, call, { ...request, serverId: server.id })
          : callWithInput(parts, call, request)
      },
    )
    if (status === 'failing') await report(parts, server, { type: 'call_succeeded' })
    return outcome
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error
    const { code, message } = error
    const isServers = !ofTheCall.has(code) && (auth === null || code !== 'unauthorized')
    if (isServers && status === 'active')
      await report(parts, server, { type: 'call_failed', error: { code, message }, at: parts.now() })
    return { ok: false, code, message }
  }
}

/** Calls a tool of a server that is not registered but defined by the turn. */
export const callInline = async (parts: CallParts, call: ServerToolCall): Promise<ToolOutcome> => {
  const { settings, parameters } = call.tool
  const url = String(settings.url)
  const headers = await parts.headers.open({ project: call.project, id: String(settings.headers_id), url })
  const tool = { name: String(settings.tool), input_schema: parameters }
  try {
    const target = { url, transport: 'auto', headers } as const
    const request = { server: new URL(url).host, target, tool, timeoutMs: callTimeoutMs.default }
    return await callWithInput(parts, call, request)
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error
    return { ok: false, code: error.code, message: error.message }
  }
}

/** Records an event of a server. Failures are ignored: they must not fail a call, and the next call reports again. */
const report = async ({ servers }: CallParts, server: Resident, event: StoredEvent): Promise<void> => {
  await servers.give(server, event, null).catch(() => {})
}

/** A tool call to send to a server. */
export interface ToolRequest {
  /** Display name of the server. */
  readonly server: string
  readonly target: McpTarget
  readonly tool: Pick<KnownTool, 'name' | 'input_schema'> & Partial<Pick<KnownTool, 'annotations'>>
  readonly timeoutMs: number
}
