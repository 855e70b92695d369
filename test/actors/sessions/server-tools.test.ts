import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { serverTools } from '#actors/sessions/tools/server-tools.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { JsonObject } from '#storage/ports.ts'
import { approve, calls, httpTool, lastPayload, pausedTurn } from './approving.ts'
import { newSession, openWorld, type Script, turn, typesOf, type World } from './harness.ts'

interface Received {
  readonly path: string
  readonly key: string | undefined
  readonly body: JsonObject
}

let server: Server
let guard: SsrfGuard
let base = ''
const received: Received[] = []
const worlds: World[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const key = request.headers['idempotency-key']
      const body: JsonObject = JSON.parse(Buffer.concat(parts).toString())
      received.push({ path: request.url ?? '', key: typeof key === 'string' ? key : undefined, body })
      if (request.url === '/hangs') return
      response.statusCode = request.url === '/fails' ? 500 : 200
      response.end('the answer')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const { port }: Pick<AddressInfo, 'port'> = typeof address === 'object' && address ? address : { port: 0 }
  base = `http://127.0.0.1:${port}`
  guard = openSsrfGuard({ allowedPrivateHosts: [`127.0.0.1:${port}`] })
})

afterEach(async () => {
  received.length = 0
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

afterAll(async () => {
  await guard.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const open = async (...scripts: readonly Script[]): Promise<World> => {
  const tools = serverTools({
    guard,
    headers: { open: async (_project, tool) => tool.headers ?? {} },
    signingSecrets: async () => ['whsec_c2VjcmV0'],
    resources: () => [],
    pause: async () => {},
  })
  const world = await openWorld({ scripts: [...scripts, { text: ['done'] }], runTool: (call) => tools.run(call) })
  worlds.push(world)
  return world
}

const outputOf = (world: World): unknown => {
  const content = world.provider.requests.at(-1)?.messages.at(-1)?.content ?? ''
  return content.startsWith('{') ? JSON.parse(content) : content
}

it('runs a tool that needs no approval at once and gives its answer to the model', async () => {
  const world = await open(calls('order'))
  const session = await newSession(world)
  const events = await turn(world, session, { input: 'go', tools: [httpTool('order', { url: `${base}/ok` })] })
  expect(typesOf(events)).toEqual([
    'turn.started',
    'tool_call.started',
    'tool_call.completed',
    'output_text.delta',
    'turn.completed',
  ])
  expect(lastPayload(events, 'tool_call.completed')).toMatchObject({ tool: 'order', output: 'the answer' })
  expect(outputOf(world)).toBe('the answer')
  expect(received).toMatchObject([
    { body: { tool: 'order', arguments: { of: 'order' }, session_id: session }, key: expect.stringContaining(session) },
  ])
})

it('runs an approved tool under the key of its action', async () => {
  const world = await open(calls('order'))
  const session = await newSession(world)
  const gated = httpTool('order', { url: `${base}/ok`, needsApproval: true })
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [gated] })
  expect(received).toEqual([])
  await approve(world, session, waiting.order ?? '', [])
  expect(received).toMatchObject([{ key: expect.stringContaining(waiting.order ?? 'none') }])
  expect(outputOf(world)).toBe('the answer')
})

it.each([
  ['answers with an error', '/fails', {}, 'at_most_once', 1],
  ['does not answer in time', '/hangs', { timeout_ms: 1000 }, 'at_most_once', 1],
  ['does not answer in time and may be called again', '/hangs', { timeout_ms: 1000 }, 'idempotent', 3],
] as const)('gives the model an error when a tool %s, and the turn continues', async (_, path, more, effect, times) => {
  const world = await open(calls('order'))
  const tools = [httpTool('order', { url: `${base}${path}`, effect, ...more })]
  const events = await turn(world, await newSession(world), { input: 'go', tools })
  expect(outputOf(world)).toMatchObject({ error: { code: expect.stringMatching(/^tool_/) } })
  expect(typesOf(events).at(-1)).toBe('turn.completed')
  expect(received).toHaveLength(times)
  expect(new Set(received.map(({ key }) => key)).size).toBe(1)
})

it('returns an error for a host that the guard refuses', async () => {
  const world = await open(calls('order'))
  const tools = [httpTool('order', { url: 'http://127.0.0.1:1/' })]
  await turn(world, await newSession(world), { input: 'go', tools })
  expect(outputOf(world)).toMatchObject({ error: { code: expect.any(String) } })
})

it('returns an error to the model for a web search without an index', async () => {
  const world = await open(calls('web_search_preview'))
  const events = await turn(world, await newSession(world), { input: 'go', tools: [{ type: 'web_search_preview' }] })
  expect(outputOf(world)).toMatchObject({ error: { code: 'capability_not_available' } })
  expect(typesOf(events).at(-1)).toBe('turn.completed')
})

it('returns an error to the model for a tool that does not exist', async () => {
  const world = await open(calls('made_up'))
  await turn(world, await newSession(world), { input: 'go' })
  expect(outputOf(world)).toMatchObject({ error: { code: 'unknown_tool' } })
})

it('passes the text of the model to a tool if it is not an object', async () => {
  const world = await open({ calls: [{ name: 'order', arguments: '{"broken' }] })
  await turn(world, await newSession(world), { input: 'go', tools: [httpTool('order', { url: `${base}/ok` })] })
  expect(received).toMatchObject([{ body: { arguments: { text: '{"broken' } } }])
})
