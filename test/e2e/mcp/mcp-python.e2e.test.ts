import { describe, expect, it } from 'vitest'
import { World } from '../world.ts'
import { mcpForPython, startPythonServer } from './python/python-server.ts'

const packages = mcpForPython()

describe.skipIf(packages === null)('a remote server of the official SDK for Python', () => {
  it('is registered, and called by an agent', async () => {
    const python = await startPythonServer(packages ?? '')
    const world = await World.start({ tools: [python] })
    const made = await world.api.post('/v1/mcp/servers', { name: 'Python', url: python.url, trust: true })
    expect(made.body).toMatchObject({ status: 'active', tools: [{ name: 'add', description: 'Adds two numbers.' }] })
    const mcp_servers = [{ server_id: made.body.id, require_approval: 'never' }]
    const agent = await world.api.post('/v1/agents', { name: 'A', config: { model: 'simulated-1', mcp_servers } })
    const session = await world.api.createSession({ agent_id: agent.body.id })
    await (await world.api.turn(session, { input: 'Use Python__add with a: 2, b: 3' })).all()
    expect(JSON.stringify(await world.api.log(session))).toContain('The sum is 5.')
    await world.stop()
    await python.stop()
  })
})
