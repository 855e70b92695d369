import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { mcpForPython, startPythonServer } from './python/python-server.ts'

const packages = mcpForPython()

describe.skipIf(packages === null)('a remote server of the official SDK for Python', () => {
  let python: Awaited<ReturnType<typeof startPythonServer>>
  let world: World
  let agent_id: string

  beforeAll(async () => {
    python = await startPythonServer(packages ?? '')
    world = await World.start({ tools: [python] })
    const made = await world.api.post('/v1/mcp/servers', { name: 'Python', url: python.url, trust: true })
    const names = made.body.tools.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['add', 'wait', 'read_counts'])
    const mcp_servers = [{ server_id: made.body.id, require_approval: { tools: ['add'] } }]
    agent_id = (await world.api.post('/v1/agents', { name: 'A', config: { model: 'simulated-1', mcp_servers } })).body
      .id
  })
  afterAll(async () => {
    await world?.stop()
    await python?.stop()
  })

  const begin = async (input: string) => {
    const session = await world.api.createSession({ agent_id })
    return { session, stream: await world.api.turn(session, { input }) }
  }
  const logOf = async (session: string) => JSON.stringify(await world.api.log(session))
  const counts = async (): Promise<string> => {
    const { session, stream } = await begin('Use Python__read_counts now')
    await stream.all()
    return logOf(session)
  }

  it('is called once the call is approved, and not before', async () => {
    const { session, stream } = await begin('Use Python__add with a: 2, b: 3')
    await stream.all()
    expect(await logOf(session)).toContain('approval_required')
    expect(await counts()).toContain('added=0')
    const paused = (await world.api.log(session)).find((row) => row.event_type === 'turn.paused')
    await (await world.api.approve(session, paused?.payload.action_id)).all()
    await vi.waitFor(async () => expect(await logOf(session)).toContain('The sum is 5.'), patience)
    expect(await counts()).toContain('added=1')
  })

  it('is not called after a rejection', async () => {
    const { session, stream } = await begin('Use Python__add with a: 4, b: 5')
    await stream.all()
    const paused = (await world.api.log(session)).find((row) => row.event_type === 'turn.paused')
    await world.api.post(`/v1/sessions/${session}/reject`, { action_id: paused?.payload.action_id })
    expect(await logOf(session)).not.toContain('The sum is')
    expect(await counts()).toContain('added=1')
  })

  it('is notified when a call is cancelled with its turn', async () => {
    const { session, stream } = await begin('Use Python__wait now')
    await vi.waitFor(async () => expect(await counts()).toContain('began=1'), patience)
    await world.api.post(`/v1/sessions/${session}/cancel`)
    await stream.all()
    await vi.waitFor(async () => expect(await counts()).toContain('cancelled=1'), patience)
  })
})
