import type { Discovery } from '#machines/mcp-server/mcp-server.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { McpConnection } from './mcp-connection.ts'
import { sha256 } from './tool-definition.ts'

const maxInfo = 512

/**
 * Returns the tools of a connected server that may be stored.
 *
 * @throws {McpFailure} `too_many_tools`, `answer_too_large`
 */
export const discovered = async (
  { client, transport, sieve }: McpConnection,
  signal: AbortSignal,
): Promise<Discovery> => {
  const { tools: listed } = await client.listTools(undefined, { signal, cacheMode: 'bypass' })
  const { tools, skipped } = sieve.read(listed)
  return {
    tools,
    skipped,
    hash: sha256(tools.map(({ name, hash }) => [name, hash])),
    server_info: serverInfo(client.getServerVersion()),
    protocol_version: client.getNegotiatedProtocolVersion() ?? null,
    transport_used: transport,
  }
}

const serverInfo = (info: { name?: unknown; version?: unknown } | undefined): JsonObject => ({
  name: String(info?.name ?? '').slice(0, maxInfo),
  version: String(info?.version ?? '').slice(0, maxInfo),
})
