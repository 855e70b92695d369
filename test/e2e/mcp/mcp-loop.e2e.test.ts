import { afterAll, beforeAll, expect, it } from 'vitest'
import { answer, type HostileServer, named, startHostileServer } from '#test/actors/mcp/client/hostile-server.ts'
import { LoopProbe, limitOf } from '../loop-probe.ts'
import { World } from '../world.ts'

let world: World
let probe: LoopProbe
const servers: HostileServer[] = []
const urls: Record<string, string> = {}

/** Each level refers twice to the next, so that whatever follows the references visits two to the power of 24 places. */
const bomb = () => {
  const levels = Array.from({ length: 24 }, (_, n) => [
    `d${n}`,
    { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
  ])
  return { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs: Object.fromEntries(levels) }
}

const lists: Readonly<Record<string, readonly object[]>> = {
  '10,000 tools': Array.from({ length: 10_000 }, (_, n) => named(`t${n}`)),
  'schemas with references that multiply': Array.from({ length: 60 }, (_, n) =>
    named(`t${n}`, { inputSchema: bomb() }),
  ),
  'invalid schemas': Array.from({ length: 5_000 }, (_, n) => ({ name: `t${n}` })),
}

beforeAll(async () => {
  for (const [name, tools] of Object.entries(lists)) {
    const server = await startHostileServer((received, response) =>
      received.method === 'tools/list'
        ? answer(response, received.id, { tools })
        : answer(response, received.id, { content: [{ type: 'text', text: 'Done.' }] }),
    )
    servers.push(server)
    urls[name] = server.url
  }
  probe = new LoopProbe()
  world = await World.start({ tools: servers, env: probe.env })
})
afterAll(async () => {
  await world.stop()
  for (const server of servers) await server.close()
  probe.close()
})

it.each(Object.keys(lists))('a remote server with %s does not block other requests', async (name) => {
  const made = await world.api.post('/v1/mcp/servers', { name: 'Many', url: urls[name], trust: true })
  expect(made.status).toBe(201)
  const seen = await probe.heldMs(world, () => world.api.post(`/v1/mcp/servers/${made.body.id}/refresh-tools`))
  expect(Math.min(...seen), JSON.stringify(seen)).toBeLessThanOrEqual(limitOf(seen))
})

it('a turn with schemas whose references multiply does not block other requests', async () => {
  const url = urls['schemas with references that multiply']
  const { id } = (await world.api.post('/v1/mcp/servers', { name: 'Bomb', url, trust: true })).body
  const mcp_servers = [{ server_id: id, tools: ['t0'], require_approval: 'never' }]
  const agent = (await world.api.post('/v1/agents', { name: 'A', config: { model: 'simulated-1', mcp_servers } })).body
  const seen = await probe.heldMs(world, async () => {
    const session = await world.api.createSession({ agent_id: agent.id })
    await (await world.api.turn(session, { input: 'Use Bomb__t0 now' })).all()
  })
  expect(Math.min(...seen), JSON.stringify(seen)).toBeLessThanOrEqual(limitOf(seen))
})
