import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { secretKeyOnly } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { object, string } from '#specs/dsl/schema.ts'
import { atNight } from '#test/setup/at-night.ts'
import { BodyMemory } from '#transport/api/body/body-memory.ts'
import type { HttpServer } from '#transport/http/http-port.ts'
import { openServer } from '#transport/http/open-server.ts'
import { head, type RawClient, rawClient } from '../http/raw-client.ts'
import { principals, serve } from './serving.ts'

const document = object({ text: string() })
const access = secretKeyOnly

const things = defineOperations('things', {
  get: { summary: '', method: 'GET', path: '/v1/things', access, answer: isJsonResponse(document) },
  log: {
    summary: '',
    method: 'GET',
    path: '/v1/things/log',
    access,
    answer: isJsonResponse(document, { maxBytes: 60_000_000 }),
  },
  make: { summary: '', method: 'POST', path: '/v1/things', access, answer: isJsonResponse(document) },
})

/** More than a connection on this machine accepts without a reader. */
const long = 'x'.repeat(30_000_000)
const max = 100_000_000

const opened: { server: HttpServer; clients: RawClient[] }[] = []

afterEach(async () => {
  for (const { server, clients } of opened.splice(0)) {
    for (const { socket } of clients) socket.destroy()
    await server.close(0)
  }
})

/** The API over a real server, with a budget of 100 MB for responses, of which a project has 75 MB. */
const open = async (adapter: 'uws' | 'node') => {
  const memory = new BodyMemory(max)
  let made = 0
  const answer = async () => {
    made++
    return { text: long }
  }
  const useCases = { 'things.get': answer, 'things.log': answer, 'things.make': answer }
  const parts = { bodies: memory, authenticator: { authenticate: () => principals.secret_key } }
  const { dispatcher } = serve(Object.values(things), useCases, { parts })
  const server = openServer(dispatcher, pino({ level: 'silent' }), { adapter })
  const clients: RawClient[] = []
  opened.push({ server, clients })
  const port = await server.listen('127.0.0.1', 0)
  const unread = async (method: string, path: string): Promise<RawClient> => {
    const client = await rawClient(port)
    clients.push(client)
    client.socket.pause()
    client.write(head(method, path, 'content-length: 0'))
    return client
  }
  const url = `http://127.0.0.1:${port}`
  return { memory, unread, url, made: () => made }
}

const patience = { timeout: 60_000 }

// at night on both: the memory is counted above the adapter, which test/transport/http tests
describe.each(atNight ? (['uws', 'node'] as const) : (['uws'] as const))(
  'long responses that are not read (%s)',
  { timeout: 240_000 },
  (adapter) => {
    it('use up the memory budget: a further one is 503 overloaded until they are read', async () => {
      const { memory, unread, url } = await open(adapter)
      const clients = [await unread('GET', '/v1/things'), await unread('GET', '/v1/things')]
      await vi.waitFor(() => expect(memory.bytes).toBeGreaterThan(60_000_000), patience)
      const refused = await fetch(`${url}/v1/things`)
      expect(refused.status).toBe(503)
      expect(await refused.json()).toMatchObject({ error: { code: 'overloaded' } })
      for (const { socket } of clients) socket.resume()
      await vi.waitFor(() => expect(memory.bytes).toBe(0), patience)
      expect((await (await fetch(`${url}/v1/things`)).text()).length).toBeGreaterThan(long.length)
      await vi.waitFor(() => expect(memory.bytes).toBe(0), patience)
    })

    it('release their memory when their clients disconnect', async () => {
      const { memory, unread } = await open(adapter)
      const clients = [await unread('GET', '/v1/things'), await unread('GET', '/v1/things')]
      await vi.waitFor(() => expect(memory.bytes).toBeGreaterThan(60_000_000), patience)
      for (const { socket } of clients) socket.destroy()
      await vi.waitFor(() => expect(memory.bytes).toBe(0), patience)
    })

    it('are not created while the budget is used up, if their operation declares a maximum length', async () => {
      const { memory, unread, made } = await open(adapter)
      const clients = [await unread('GET', '/v1/things/log'), await unread('GET', '/v1/things/log')]
      await vi.waitFor(() => expect(memory.bytes).toBeGreaterThan(30_000_000), patience)
      clients.push(await unread('GET', '/v1/things/log'))
      await vi.waitFor(() => expect(made()).toBeGreaterThan(0), patience)
      expect(made()).toBe(1)
      for (const { socket } of clients) socket.resume()
      // one that has waited for five seconds was refused, and its client sends it again
      const room = async (): Promise<void> => {
        if (made() < 3) (await unread('GET', '/v1/things/log')).socket.resume()
        expect(made()).toBeGreaterThanOrEqual(3)
      }
      await vi.waitFor(room, { ...patience, interval: 1_000 })
      await vi.waitFor(() => expect(memory.bytes).toBe(0), patience)
    })

    it('are sent for a request that has changed something, even if the budget is used up', async () => {
      const { memory, unread, url } = await open(adapter)
      const clients = [await unread('GET', '/v1/things'), await unread('GET', '/v1/things')]
      await vi.waitFor(() => expect(memory.bytes).toBeGreaterThan(60_000_000), patience)
      const made = await fetch(`${url}/v1/things`, { method: 'POST' })
      expect([made.status, (await made.text()).length > long.length]).toEqual([200, true])
      for (const { socket } of clients) socket.resume()
      await vi.waitFor(() => expect(memory.bytes).toBe(0), patience)
    })
  },
)
