import { actionRows } from '#actors/sessions/kinds.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { revokedForMs } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { newId } from '#runtime/ids.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import type { TokenReply } from '#test/actors/connections/scripted-connections.ts'
import { startRun } from '#test/actors/runs/run-world.ts'
import { calls, httpTool } from '#test/actors/sessions/approving.ts'
import { agentConfigOf, newSession, turn, type World } from '#test/actors/sessions/harness.ts'
import { calm } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

const pollMs = 1000
const hourMs = 3_600_000

const grants: TokenReply = {
  status: 200,
  body: { access_token: 'at', refresh_token: 'rt', token_type: 'bearer', expires_in: 3600 },
}
const refuses = (status: number, error: string): TokenReply => ({ status, body: { error } })
let reply = grants

const by = { kind: 'secret_key', id: 'key_a' }
const code = JSON.stringify({ code: 'c', verifier: 'v'.repeat(43), redirect_uri: 'https://troupe.example/callback' })
const signsIn: StoredEvent = { type: 'authorized', code, scopes: [], by }

const connection = async ({ host, clock }: World, held = false): Promise<string> => {
  const connection_id = newId('con')
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const input = {
    ...{ connection_id, connector: held ? 'api_key' : 'oauth2', auth: held ? 'api_key' : 'oauth2', name: 'Notes' },
    ...{ owner_type: 'project', test_only: false, pattern: null, config: {}, scopes: [], key_last4: null },
    ...{ tool_count: 0, held, created_by: by },
  }
  await host.create({ kind: connectionDefinition, id: connection_id, owner, input, cause: newId('req') })
  await calm()
  return connection_id
}

const give = async (world: World, id: string, event: StoredEvent): Promise<void> => {
  await world.host.deliver(id, { event, cause: newId('req') })
  await calm()
}

const needs = {
  connection_id: '',
  connector: 'oauth2',
  authorize_url: 'https://troupe.example/start',
  expires_at: null,
}
let isConnected = false

/** A tool that requires the connection, and succeeds once it is connected. */
const runTool: Scenario['runTool'] = async () =>
  isConnected
    ? { ok: true, output: 'done' }
    : { ok: false, code: 'connection_required', message: 'Sign in first.', connection: needs }

const toolWorld = async (world: World): Promise<string> => {
  isConnected = false
  needs.connection_id = await connection(world)
  return needs.connection_id
}

const connect = async (world: World): Promise<void> => {
  isConnected = true
  await give(world, needs.connection_id, { type: 'key_given', generation: 1, key_last4: null, by })
}

const waitingActions = async (world: World): Promise<number> => {
  const where = { status: 'awaiting_connection' }
  return (await world.storage.records.list(actionRows, projectScope('prj_a'), { where, limit: 10 })).length
}

/** Together, these reach every state of a connection, and of what waits for one. */
export const connectionScenarios: readonly Scenario[] = [
  {
    name: 'connections',
    scripts: [],
    connections: { token: () => reply },
    play: async (world, clock) => {
      reply = grants
      const lasting = await connection(world, true)
      await give(world, lasting, { type: 'tested', error: null, at: clock.now() })
      const id = await connection(world)
      await give(world, id, signsIn)
      await give(world, id, { type: 'scopes_required', generation: 1, scopes: ['write'], at: clock.now() })
      await give(world, id, { ...signsIn, scopes: ['write'] })
      await clock.advance(hourMs)
      reply = refuses(503, 'temporarily_unavailable')
      await clock.advance(hourMs)
      reply = refuses(400, 'invalid_client')
      await give(world, id, { type: 'refresh', generation: null })
      reply = refuses(400, 'invalid_grant')
      await give(world, id, { type: 'refresh', generation: null })
      reply = grants
      await give(world, id, signsIn)
      await give(world, id, { type: 'revoke', by })
      await clock.leap(revokedForMs)
      await clock.advance(pollMs)
    },
  },
  {
    name: 'turn-waits-for-connection',
    scripts: [calls('post'), { text: ['Done.'] }],
    runTool,
    play: async (world, clock) => {
      await toolWorld(world)
      await turn(world, await newSession(world), {
        input: 'go',
        tools: [httpTool('post')],
        pause_on_tool_calls: false,
      })
      await clock.advance(pollMs)
      if ((await waitingActions(world)) !== 1) throw new Error('no action waits')
      await connect(world)
      await clock.advance(pollMs)
    },
  },
  {
    name: 'run-waits-for-connection',
    scripts: [calls('post'), { text: ['Done.'] }],
    runTool,
    agents: async ({ agentId }) => agentConfigOf(agentId, { config: { ...noAgent, tools: [httpTool('post')] } }),
    play: async (world, clock) => {
      await toolWorld(world)
      await startRun(world, 'agt_1')
      await clock.advance(pollMs)
      await connect(world)
      await clock.advance(pollMs)
    },
  },
]
