import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { type EverythingServer, startEverythingServer } from './everything-server.ts'
import { type NewEraServer, type ServedTool, said, startNewEraServer } from './new-era-server.ts'

const later = Promise.withResolvers<void>()

/** Reports its progress, and waits for the test before it ends. */
const copy: ServedTool = {
  name: 'copy',
  description: 'Copies pages.',
  run: async (_given, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken === undefined) return said('No one follows.')
    const message = 'Half of the pages, key sk-live-0123456789abcdefghij0123456789'
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2, message } })
    await later.promise
    return said('Copied.')
  },
}

describe('progress of a remote tool', () => {
  let world: World
  let ours: NewEraServer
  let everything: EverythingServer
  let agent_id: string

  beforeAll(async () => {
    ours = await startNewEraServer([copy])
    everything = await startEverythingServer()
    world = await World.start({ tools: [ours, everything] })
    const mcp_servers: object[] = []
    for (const [name, { url }] of Object.entries({ Ours: ours, All: everything })) {
      const { id } = (await world.api.post('/v1/mcp/servers', { name, url, trust: true })).body
      const tools = name === 'All' ? ['trigger-long-running-operation'] : ['copy']
      mcp_servers.push({ server_id: id, tools, require_approval: name === 'All' ? 'never' : 'always' })
    }
    const config = { model: 'simulated-1', mcp_servers }
    agent_id = (await world.api.post('/v1/agents', { name: 'Agent', config })).body.id
  })
  afterAll(async () => {
    await world.stop()
    await ours.close()
    await everything.stop()
  })

  it('is in the log during the call and in the stream, with secrets masked', async () => {
    const session = await world.api.createSession({ agent_id })
    await (await world.api.turn(session, { input: 'Use Ours__copy now' })).all()
    const paused = (await world.api.log(session)).find((row) => row.event_type === 'turn.paused')
    const stream = await world.api.approve(session, paused?.payload.action_id)
    await vi.waitFor(async () => {
      const log = await world.api.log(session)
      const progress = log.find((row) => row.event_type === 'tool_call.progress')
      expect(progress?.payload).toMatchObject({ tool: 'Ours__copy', progress: 1, total: 2 })
      expect(progress?.payload.message).toContain('Half of the pages')
      expect(JSON.stringify(progress)).not.toContain('sk-live-0123456789')
      expect(log.some((row) => row.event_type === 'tool_call.completed')).toBe(false)
    }, patience)
    later.resolve()
    const frames = await stream.all()
    expect(frames.map(({ event }) => event)).toContain('tool_call.progress')
    await vi.waitFor(
      async () => expect((await world.api.log(session)).at(-1)?.event_type).toBe('turn.completed'),
      patience,
    )
  })

  it('of a server of revision 2025-11-25 is limited to about one event per second, in sessions and runs', async () => {
    const input = 'Use All__trigger-long-running-operation with duration: 2.2, steps: 60'
    const session = await world.api.createSession({ agent_id })
    await (await world.api.turn(session, { input })).all()
    const log = await world.api.log(session)
    const said = log.filter((row) => row.event_type === 'tool_call.progress').map(({ payload }) => payload)
    expect(said.length).toBeGreaterThanOrEqual(1)
    expect(said.length).toBeLessThanOrEqual(4)
    expect(said[0]).toMatchObject({ total: 60, message: null })
    const run = (await world.api.post(`/v1/agents/${agent_id}/runs`, { input: { prompt: input } })).body.id
    await vi.waitFor(async () => {
      expect((await world.api.get(`/v1/runs/${run}`)).body.status).toBe('completed')
    }, patience)
    const { data } = (await world.api.get(`/v1/runs/${run}/events?limit=100`)).body
    expect(JSON.stringify(data)).toContain('run.tool_call.progress')
  })
})
