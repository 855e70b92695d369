import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { keyOrClient } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { integer, object, string } from '#specs/dsl/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { expectWithin } from '#test/support/expect-within.ts'
import { BodyMemory } from '#transport/api/body/body-memory.ts'
import type { HttpServer } from '#transport/http/http-port.ts'
import { openServer } from '#transport/http/open-server.ts'
import { head, type RawClient, rawClient } from '../http/raw-client.ts'
import { principals, serve } from './serving.ts'

const declaredBytes = 8_000_000
const bodies = 89
/** 2.5 MB a second for all slow bodies together. */
const partBytes = Math.round(2_500_000 / bodies / 10)
const partMs = 100

const things = defineOperations('things', {
  make: {
    summary: '',
    method: 'POST',
    path: '/v1/things',
    access: { ...keyOrClient, publicKeys: true },
    body: object({ text: string({ maxLength: declaredBytes }) }),
    maxBodyBytes: declaredBytes,
    answer: isJsonResponse(object({ length: integer() })),
  },
})

/** Credentials by the name that a request states. */
const callers: Readonly<Record<string, Principal>> = {
  'first key': { ...principals.agent_key, project: 'prj_first', keyId: 'key_first', keyType: 'public' },
  'second key': { ...principals.agent_key, project: 'prj_second', keyId: 'key_second', keyType: 'public' },
  'secret key': { ...principals.secret_key, project: 'prj_other' },
  'public key': { ...principals.agent_key, project: 'prj_public', keyType: 'public' },
  'client token': { ...principals.client_token, project: 'prj_token' },
  'secret key of the same project': { ...principals.secret_key, project: 'prj_first' },
}

const opened: { server: HttpServer; clients: RawClient[]; timer: NodeJS.Timeout }[] = []

afterEach(async () => {
  for (const { server, clients, timer } of opened.splice(0)) {
    clearInterval(timer)
    for (const { socket } of clients) socket.destroy()
    await server.close(0)
  }
})

const open = async (adapter: 'uws' | 'node', memory: BodyMemory) => {
  const authenticate = (request: { header(name: string): string | undefined }): Principal => {
    const caller = callers[request.header('x-caller') ?? '']
    if (caller === undefined) throw new ServiceError('authentication_required')
    return caller
  }
  const make = async ({ bytes }: { readonly bytes?: Uint8Array | undefined }) => ({ length: bytes?.length ?? 0 })
  const parts = { bodies: memory, authenticator: { authenticate } }
  const { dispatcher } = serve(Object.values(things), { 'things.make': make }, { parts })
  const server = openServer(dispatcher, pino({ level: 'silent' }), { adapter })
  const port = await server.listen('127.0.0.1', 0)
  const clients: RawClient[] = []
  const part = 'x'.repeat(partBytes)
  const timer = setInterval(() => {
    for (const client of clients) client.write(part)
  }, partMs)
  opened.push({ server, clients, timer })
  const post = async (caller: string, bytes: number) => {
    const body = JSON.stringify({ text: 'x'.repeat(bytes) })
    const sentAt = performance.now()
    const { status } = await fetch(`http://127.0.0.1:${port}/v1/things`, {
      method: 'POST',
      headers: { 'x-caller': caller, 'content-type': 'application/json' },
      body,
    })
    return { status, ms: performance.now() - sentAt }
  }
  return { post, clients, port }
}

/** A server whose two public keys are sending `bodies` long bodies slowly. */
const attacked = async (adapter: 'uws' | 'node', memory: BodyMemory) => {
  const { post, clients, port } = await open(adapter, memory)
  clients.push(...(await Promise.all(Array.from({ length: bodies }, () => rawClient(port)))))
  for (const [at, client] of clients.entries()) {
    const caller = `x-caller: ${at % 2 === 0 ? 'first key' : 'second key'}`
    client.write(`${head('POST', '/v1/things', caller, `content-length: ${declaredBytes}`)}{"text":"`)
  }
  return { post, clients }
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

const others = Object.keys(callers).filter((caller) => !/^(first|second) key$/.test(caller))

describe.each(['uws', 'node'] as const)('long bodies that two public keys send slowly (%s)', (adapter) => {
  it('do not delay a body of 100 KB of any other credential by 100 ms', async () => {
    const memory = new BodyMemory(700_000_000)
    const { post } = await attacked(adapter, memory)
    const calm = await open(adapter, new BodyMemory(700_000_000))
    await vi.waitFor(() => expect(memory.bytes).toBeGreaterThan(100_000), { timeout: 30_000 })
    await post('secret key', 100_000)
    for (const caller of others) {
      const sent = []
      for (let round = 0; round < 10; round++) sent.push(await post(caller, 100_000))
      expect([caller, ...new Set(sent.map(({ status }) => status))]).toEqual([caller, 200])
      const tookMs = median(sent.map(({ ms }) => ms))
      await expectWithin(100, tookMs, () => calm.post(caller, 100_000))
    }
  })

  it('do not keep another project from sending the longest body, even if the memory has room for six', async () => {
    const { post } = await attacked(adapter, new BodyMemory(6 * declaredBytes))
    for (const caller of others) expect([caller, (await post(caller, 7_900_000)).status]).toEqual([caller, 200])
  })

  it('are refused as overloaded beyond the share of a browser', async () => {
    const { clients } = await attacked(adapter, new BodyMemory(700_000_000))
    const refused = () => clients.filter(({ received }) => received.startsWith('HTTP/1.1 503 ')).length
    await expect.poll(refused).toBeGreaterThan(bodies / 2)
  })
})
