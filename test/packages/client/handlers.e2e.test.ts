import { once } from 'node:events'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientToken, Troupe } from '#client/index.ts'
import {
  decisionHandler,
  type ExpressRequest,
  type ExpressResponse,
  expressDecision,
  expressToken,
  tokenHandler,
} from '#client/server/index.ts'
import { startToolServer, type ToolServer } from '#test/e2e/tool-server.ts'
import { World } from '#test/e2e/world.ts'

let [world, tool]: [World, ToolServer] = Object(Array(2))
let [tenant, agent] = ['', '']
beforeAll(async () => {
  tool = await startToolServer()
  world = await World.start({ tools: [tool] })
  tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
  const refund = { type: 'http', name: 'issue_refund', url: tool.url, needsApproval: true }
  const config = { model: 'simulated-1', tools: [refund] }
  agent = (await world.api.post('/v1/agents', { name: 'Shop', config })).body.id
})
afterAll(async () => {
  await world.stop()
  await tool.close()
})

const server = () => new Troupe({ baseUrl: world.url, key: world.secretKey })
const user = () => ({ tenant_id: tenant, external_user_id: 'ada' })

/** A client as it is in a page of that user. */
const pageOf = (handler: (request: Request) => Promise<Response>) => {
  let fetched = 0
  const token = async (): Promise<ClientToken> => {
    fetched++
    return Object(await (await handler(new Request('http://page.test/token', { method: 'POST' }))).json())
  }
  return { troupe: new Troupe({ baseUrl: world.url, token }), fetched: () => fetched }
}

describe('a route for tokens', () => {
  it('lets the page of who is signed in talk, with one token for all requests', async () => {
    const { troupe, fetched } = pageOf(tokenHandler(server(), user))
    const [one, other] = [troupe.sessions.open(), troupe.sessions.open()]
    const turns = await Promise.all([one.send('reply exactly: one'), other.send('reply exactly: other')])
    expect(turns.map(({ text }) => text)).toEqual(['one', 'other'])
    expect(fetched()).toBe(1)
  })

  it('refuses who is not signed in, and shows no page what is wrong with the operator’s key', async () => {
    const request = new Request('http://page.test/token', { method: 'POST' })
    expect((await tokenHandler(server(), () => null)(request)).status).toBe(401)
    const broken = new Troupe({ baseUrl: world.url, key: 'csk_wrong' })
    const answer = await tokenHandler(broken, user)(request)
    expect([answer.status, await answer.json()]).toEqual([502, { error: expect.stringMatching(/^refused: \w+$/) }])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })
})

describe('routes without a key', () => {
  it('are made, as a build without the variables of the server makes them, and say what to do at their first use', async () => {
    const keyless = new Troupe({ baseUrl: world.url, key: undefined })
    const routes = [tokenHandler(keyless, user), decisionHandler(keyless, user)]
    const body = JSON.stringify({ decision: 'approve', session_id: 'ses_1', action_id: 'act_1' })
    for (const route of routes)
      await expect(route(new Request('http://page.test/', { method: 'POST', body }))).rejects.toMatchObject({
        code: 'usage',
        message: 'Pass key or token: is it set?',
      })
    expect((await tokenHandler(keyless, () => null)(new Request('http://page.test/'))).status).toBe(401)
  })
})

const require = createRequire(import.meta.url)

/** The parts of Express that are used: its types are a package of their own. */
interface ExpressApp {
  use(handler: unknown): void
  post(path: string, handler: (request: ExpressRequest, response: ExpressResponse) => Promise<void>): void
  listen(port: number, host: string): Server
}
const express: { (): ExpressApp; json(): unknown } = require('express')

const signedIn = ({ headers }: { readonly headers: Headers | Readonly<Record<string, unknown>> }) =>
  (headers instanceof Headers ? headers.get('x-user') : headers['x-user']) === 'ada' ? user() : null

/** A server's two routes, as a function that sends to them. */
type Routes = (path: string, headers: Readonly<Record<string, string>>, body?: object) => Promise<Response>

const inExpress = async (): Promise<Routes> => {
  const app = express()
  app.use(express.json())
  app.post('/token', expressToken(server(), signedIn))
  app.post('/decide', expressDecision(server(), signedIn))
  const listening = app.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  closing.push(() => listening.close())
  const { port }: Pick<AddressInfo, 'port'> = Object(listening.address())
  return (path, headers, body) => fetch(new Request(`http://127.0.0.1:${port}${path}`, post(headers, body)))
}
const closing: (() => void)[] = []
afterAll(() => {
  for (const close of closing) close()
})

const inHono = async (): Promise<Routes> => {
  const app = new Hono()
  app.post('/token', (c) => tokenHandler(server(), signedIn)(c.req.raw))
  app.post('/decide', (c) => decisionHandler(server(), signedIn)(c.req.raw))
  return async (path, headers, body) => app.request(path, post(headers, body))
}

/** Next passes a `Request` to what a route's file exports, and sends the `Response`. */
const inNext = async (): Promise<Routes> => {
  const routes = new Map([
    ['/token', tokenHandler(server(), signedIn)],
    ['/decide', decisionHandler(server(), signedIn)],
  ])
  return async (path, headers, body) =>
    routes.get(path)?.(new Request(`http://page.test${path}`, post(headers, body))) ?? Response.error()
}

const post = (headers: Readonly<Record<string, string>>, body: object = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

describe.each([
  { framework: 'Express', open: inExpress },
  { framework: 'Hono', open: inHono },
  { framework: 'a Request and a Response, as Next', open: inNext },
])('with $framework', ({ open }) => {
  it('a page talks with tokens of one line, and a decision is made for who is signed in alone', async () => {
    const send = await open()
    const ada = { 'x-user': 'ada' }
    const token = async () => Object(await (await send('/token', ada)).json())
    const refused = await send('/token', {})
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([401, 'no-store'])
    const session = new Troupe({ baseUrl: world.url, token }).sessions.open(null, { create: { agent_id: agent } })
    const sent = session.send('Please use issue_refund for order 8')
    const stop = session.subscribe(() => {})
    await expect.poll(() => session.getSnapshot().approvals).toHaveLength(1)
    const [{ action_id = '' } = {}] = session.getSnapshot().approvals
    const decision = { decision: 'approve', session_id: session.id, action_id }
    const statusOf = async (headers: Readonly<Record<string, string>>, more: object) =>
      (await send('/decide', headers, { ...decision, ...more })).status
    expect(await statusOf({}, {})).toBe(401)
    expect(await statusOf(ada, { session_id: 'ses_none' })).toBe(403)
    expect(await statusOf(ada, { decision: 'perhaps' })).toBe(422)
    const answer = await send('/decide', ada, { ...decision, external_user_id: 'eve' })
    expect([answer.status, await answer.json()]).toEqual([200, { resolution: 'approved' }])
    expect(await sent).toMatchObject({ status: 'completed' })
    stop()
  })
})

describe('a client', () => {
  it('says in one sentence what to do about a wrong address, a wrong key and two credentials', async () => {
    const missing = new Troupe({ baseUrl: `${world.url}/elsewhere`, key: world.secretKey })
    await expect(missing.sessions.open('ses_none').send('hi')).rejects.toMatchObject({ status: 404 })
    await expect(new Troupe({ baseUrl: world.url, key: 'csk_wrong' }).sessions.open().send('hi')).rejects.toMatchObject(
      {
        status: 401,
        type: 'authentication_error',
      },
    )
    await expect(new Troupe({ baseUrl: world.url }).sessions.open().send('hi')).rejects.toThrow(
      'Pass key or token: is it set?',
    )
    const away = new Troupe({ baseUrl: 'http://127.0.0.1:9', key: 'csk_x', retryForMs: 100 })
    await expect(away.sessions.open().send('hi')).rejects.toThrow('is the server running, and is baseUrl right?')
  })

  it('fetches another token once when the server refuses one', async () => {
    const handler = tokenHandler(server(), user)
    let fetched = 0
    const token = async () => {
      const answer: ClientToken = Object(
        await (await handler(new Request('http://page.test/token', { method: 'POST' }))).json(),
      )
      return fetched++ === 0 ? { ...answer, token: `${answer.token}x` } : answer
    }
    const troupe = new Troupe({ baseUrl: world.url, token })
    expect(await troupe.sessions.open().send('reply exactly: one')).toMatchObject({ text: 'one' })
    expect(fetched).toBe(2)
    const refused = new Troupe({
      baseUrl: world.url,
      token: async () => ({ token: 'ect_x', expires_at: '2100-01-01' }),
    })
    await expect(refused.sessions.open().send('hi')).rejects.toMatchObject({ status: 401 })
  })
})
