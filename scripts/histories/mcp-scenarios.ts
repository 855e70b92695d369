import { McpFailure } from '#actors/mcp/client/mcp-failure.ts'
import { retryDelaysMs } from '#machines/mcp-server/mcp-server.ts'
import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import { newId } from '#runtime/ids.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { type ScriptedServers, serverOf } from '#test/actors/mcp/scripted-servers.ts'
import type { World } from '#test/actors/sessions/harness.ts'
import { calm } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

const pollMs = 1000
const by = { kind: 'secret_key', id: 'key_a' }
const send = {
  ...{ name: 'send', description: 'Sends.', input_schema: { type: 'object' }, annotations: null, hash: 'a' },
}
const nothing: ScriptedServers = () => null
let servers: ScriptedServers = nothing

const server = async ({ host, clock }: World, url: string): Promise<string> => {
  const server_id = newId('mcp')
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const input = {
    ...{ server_id, name: 'Tools', url, transport: 'auto', timeout_ms: 60_000, trust: false },
    ...{ header_names: [], auth: null, created_by: by },
  }
  await host.create({ kind: mcpServerDefinition, id: server_id, owner, input, cause: newId('req') })
  await calm()
  return server_id
}

const give = async ({ host }: World, id: string, event: StoredEvent): Promise<void> => {
  await host.deliver(id, { event, cause: newId('req') })
  await calm()
}

/** Together, these reach every state of a remote tool server. */
export const mcpScenarios: readonly Scenario[] = [
  {
    name: 'servers',
    scripts: [],
    servers: () => servers(),
    play: async (world, clock) => {
      servers = () => serverOf(send)
      const tools = await server(world, 'https://tools.example/mcp')
      const review = { type: 'review', tool: 'send', decision: 'approve', reason: null, hash: null, by, at: 1 }
      await give(world, tools, review)
      servers = () => serverOf({ ...send, description: 'Sends more.', hash: 'b' })
      await give(world, tools, { type: 'refresh' })
      const error = { code: 'timeout', message: 'The server did not answer.' }
      await give(world, tools, { type: 'call_failed', error, at: 2 })
      await give(world, tools, { type: 'call_succeeded' })
      await give(world, tools, { type: 'update', fields: { name: 'Other' }, moves: false, by })
      await give(world, tools, { type: 'disable', by })
      await give(world, tools, { type: 'enable', by })
      servers = () => {
        throw new McpFailure('connection_required', 'Sign in first.', { isFinal: true, connectionId: 'con_none' })
      }
      await server(world, 'https://private.example/mcp')
      await clock.advance(pollMs)
      servers = nothing
      const gone = await server(world, 'https://gone.example/mcp')
      for (const delay of retryDelaysMs) await clock.advance(delay + pollMs)
      await give(world, gone, { type: 'delete' })
      await clock.advance(pollMs)
    },
  },
]
