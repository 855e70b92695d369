import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { type ClientParts, GivenUp, NodeClient, Refused } from '#scripts/chaos/node-client.ts'
import { SessionVisit } from '#scripts/chaos/session-visit.ts'
import { Random } from '#test/simulation/world/random.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

const serve = async (handler: Handler): Promise<string> => {
  const server = createServer(handler)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: { port: number } = Object(server.address())
  return `http://127.0.0.1:${port}`
}

const partsOf = (urls: readonly string[], deadline = Number.POSITIVE_INFINITY): ClientParts => ({
  urls: () => urls,
  secretKey: 'csk',
  counts: { requests: 0, unavailable: 0, silent: 0, broken: 0 },
  deadline: () => deadline,
})

const json = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

const frame = (id: number, event: string, data: object): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`

const events = [
  frame(1, 'turn.started', { turn_number: 1, input_text: 'What is q1z?' }),
  frame(2, 'response.output_text.delta', { delta: 'You said: What is q1z?' }),
  frame(3, 'turn.completed', { turn_number: 1, output: 'You said: What is q1z?' }),
]

describe('a client', () => {
  it('tries other nodes with the same key until one answers', async () => {
    const keys: unknown[] = []
    const gone = await serve((request) => request.socket.destroy())
    const away = await serve((request, response) => {
      keys.push(request.headers['idempotency-key'])
      json(response, 503, { error: { code: 'store_unavailable' } })
    })
    const good = await serve((request, response) => {
      keys.push(request.headers['idempotency-key'])
      json(response, 201, { id: 'ses_1' })
    })
    const parts = partsOf([gone, away, good])
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        new NodeClient(parts, new Random(at)).json({ method: 'POST', path: '/', body: {}, key: 'k' }, ({ id }) => id),
      ),
    )
    expect(new Set(answers)).toEqual(new Set(['ses_1']))
    expect(new Set(keys)).toEqual(new Set(['k']))
    const { requests, unavailable, silent, broken } = parts.counts
    expect(requests).toBe(12 + unavailable + silent + broken)
    expect(Math.min(unavailable, broken)).toBeGreaterThan(0)
  })

  it.each([404, 409, 500])('throws a refusal with %i', async (status) => {
    const url = await serve((_, response) => json(response, status, { error: { code: 'not_as_promised' } }))
    const client = new NodeClient(partsOf([url]), new Random(1))
    const answer = client.json({ method: 'GET', path: '/' }, () => true)
    await expect(answer).rejects.toThrow(Refused)
    await expect(answer).rejects.toMatchObject({ status, code: 'not_as_promised' })
  })

  it('gives up after its deadline', async () => {
    const url = await serve((_, response) => json(response, 503, {}))
    const client = new NodeClient(partsOf([url], performance.now() + 200), new Random(1))
    await expect(client.json({ method: 'GET', path: '/' }, () => true)).rejects.toThrow(GivenUp)
  })
})

describe('the client of a session', () => {
  const visitOf = (url: string) => {
    const random = new Random(1)
    return new SessionVisit('ses_1', { client: new NodeClient(partsOf([url]), random), random, toolUrl: '' })
  }

  it('retries until the request is accepted, resumes after its last event, and keeps each event once', async () => {
    const requested: string[] = []
    const url = await serve((request, response) => {
      requested.push(`${request.method} ${request.headers['idempotency-key'] ?? request.headers['last-event-id']}`)
      if (requested.length === 1) return request.socket.destroy()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const seen = requested.length === 2 ? 0 : Number(request.headers['last-event-id'])
      response.write(events[seen] ?? '', () => request.socket.destroy())
    })
    const visit = visitOf(url)
    await visit.request('plain', 'q1z')
    expect(requested).toEqual(['POST turn-q1z', 'POST turn-q1z', 'GET 1', 'GET 2'])
    expect(visit.frames.map(({ id }) => id)).toEqual(['1', '2', '3'])
    expect(visit.turns).toEqual([{ token: 'q1z', acknowledged: true, output: 'You said: What is q1z?' }])
  })

  it('does not mark a refused turn as acknowledged', async () => {
    const url = await serve((_, response) => json(response, 404, { error: { code: 'not_found' } }))
    const visit = visitOf(url)
    await expect(visit.request('plain', 'q1z')).rejects.toThrow(Refused)
    expect(visit.turns).toEqual([{ token: 'q1z', acknowledged: false, output: 'You said: What is q1z?' }])
  })
})
