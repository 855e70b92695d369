import type { ConnectionService } from '#actors/capability/connection-service.ts'
import type { Discovery } from '#machines/mcp-server/mcp-server.ts'
import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import { noLists } from '#machines/mcp-server/server-lists.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { contextOf, type EffectOutcome, type IdempotentEffect } from '../runtime/index.ts'
import { type McpTarget, withServer } from './client/mcp-connection.ts'
import { McpFailure } from './client/mcp-failure.ts'
import { listsOf } from './client/read-lists.ts'
import { discovered } from './client/read-tools.ts'
import { readAgent } from './remote-agents/agent-wire.ts'
import { withOwnAuth } from './server-auth.ts'
import type { ServerHeaders } from './server-headers.ts'

/** Maximum duration of the discovery of tools, in ms. */
export const discoveryTimeoutMs = 20_000

/** Maximum duration of reading resources and prompts, in ms. */
const listsTimeoutMs = 8_000

export interface DiscoverParts {
  /** Reads what a server offers. @throws {McpFailure} */
  readonly read: (target: McpTarget, signal: AbortSignal) => Promise<Discovery>
  readonly headers: Pick<ServerHeaders, 'open'>
  readonly connections: ConnectionService
  /** ms since the epoch. */
  readonly now: () => number
}

/** Reads the tools of a server, or the card of an agent, through the SSRF guard. @throws {McpFailure} */
export const readServer =
  (guard: Pick<SsrfGuard, 'request'>): DiscoverParts['read'] =>
  (target, signal) => {
    const work = { guard, timeoutMs: discoveryTimeoutMs, signal }
    return target.transport === 'a2a' ? readAgent(target, work) : withServer(target, work, discovered)
  }

/**
 * Reads the tools of a server, and then its resources and prompts.
 *
 * @throws {McpFailure} when the tools cannot be read
 */
export const readWholeServer =
  (guard: Pick<SsrfGuard, 'request'>): DiscoverParts['read'] =>
  async (target, signal) => {
    const found = await readServer(guard)(target, signal)
    if (target.transport === 'a2a') return { ...found, lists: noLists }
    // over a separate connection, so that no failure here affects the tools
    const work = { guard, timeoutMs: listsTimeoutMs, signal }
    const lists = await withServer(target, work, listsOf).catch((error: unknown) => {
      if (error instanceof McpFailure) return { ...noLists, unread: allLists }
      throw error
    })
    return { ...found, lists }
  }

const allLists = ['resources', 'resource_templates', 'prompts']

/** Discovers the tools of a server. It only reads, so it can run again after a crash. */
export const discoverTools = (parts: DiscoverParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context): Promise<EffectOutcome> => {
    const { server_id: id, url, transport, auth } = contextOf(mcpServerDefinition, context)
    const { project, tenant } = context.owner
    const headers = await parts.headers.open({ project, id, url })
    const as = { server: { auth, url }, caller: { project, tenant, user: null } }
    try {
      const found = await withOwnAuth(parts.connections, as, (own) =>
        parts.read({ url, transport, headers: { ...headers, ...own } }, context.signal),
      )
      // the snapshot contains the result; the log only records that the discovery succeeded
      return { event: { type: 'discovered', found, at: parts.now() }, stored: { type: 'discovered' } }
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error
      const { code, message, isFinal, connectionId: awaits } = error
      return { event: { type: 'discovery_failed', error: { code, message }, final: isFinal, awaits, at: parts.now() } }
    }
  },
})
