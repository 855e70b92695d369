import type { ConnectionService } from '#actors/capability/connection-service.ts'
import { McpFailure } from '#actors/mcp/client/mcp-failure.ts'
import { discoverTools } from '#actors/mcp/discover-tools.ts'
import type { Discovery } from '#machines/mcp-server/mcp-server.ts'
import type { Clock } from '#runtime/clock.ts'
import { eraseActor } from '#runtime/erasure/erase-actor.ts'
import type { Storage } from '#storage/ports.ts'

/** Content of the remote servers of a simulation; null for one that does not respond. */
export type ScriptedServers = () => Discovery | null

/** A server with these tools. */
export const serverOf = (...tools: Discovery['tools']): Discovery => ({
  ...{ tools, skipped: [], hash: JSON.stringify(tools), server_info: { name: 'scripted', version: '1' } },
  ...{ protocol_version: '2026-07-28', transport_used: 'streamable_http' },
})

/** The connections of a project that has none. */
export const noConnections: ConnectionService = {
  access: async () => ({ kind: 'refused', code: 'not_found', message: 'There are no connections.' }),
  refused: async () => ({ kind: 'refused', code: 'not_found', message: 'There are no connections.' }),
  insufficient: async () => ({ kind: 'refused', code: 'not_found', message: 'There are no connections.' }),
  challenged: async () => {},
  createFor: async () => {},
  withdraw: async () => {},
  missing: async () => 'There are no connections.',
  untestable: async () => null,
}

/** Effects of remote tool servers without a network, for simulations in virtual time. */
export const scriptedServers = (
  { storage, clock }: { readonly storage: Storage; readonly clock: Clock },
  servers: ScriptedServers = () => serverOf(),
) => ({
  'mcp_server.discoverTools': discoverTools({
    headers: { open: async () => ({}) },
    connections: noConnections,
    now: clock.now,
    read: async () => {
      const found = servers()
      if (found === null) throw new McpFailure('unreachable', 'The server cannot be reached.')
      return found
    },
  }),
  'mcp_server.eraseServer': eraseActor({ storage, clock }),
})
