import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Api } from '../api.ts'
import { answerTo } from '../gateway/simulated-answer.ts'
import { patience } from '../patience.ts'
import { counted, endsTurn, type Frame, isDelta, rise, textOf } from '../stream-reader.ts'
import { World } from '../world.ts'
import { closePages, openBrowser } from './open-browser.ts'

/** Script of a customer's page that uses the API: fetches, reads streams, opens sockets. It runs in the browser. */
const pageScript = `
const parse = (text) => Object.fromEntries(text.split('\\n').map((line) => line.split(/: (.*)/s)))
window.stream = async (url, token, { body, lastEventId, max = Infinity } = {}) => {
  const abort = new AbortController()
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: 'Bearer ' + token,
      ...(body && { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }),
      ...(lastEventId && { 'last-event-id': lastEventId }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: abort.signal,
  })
  if (!response.ok) return { status: response.status, requestId: response.headers.get('x-request-id'), frames: [] }
  const frames = []
  let rest = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  while (frames.length < max) {
    const { done, value } = await reader.read()
    if (done) break
    rest += value
    const parts = rest.split('\\n\\n')
    rest = parts.pop()
    for (const { event, id, data } of parts.map(parse)) if (data) frames.push({ event, id, data: JSON.parse(data) })
    if (frames.some(({ event }) => /^turn.(completed|failed|paused)$/.test(event))) break
  }
  abort.abort()
  return { status: response.status, requestId: response.headers.get('x-request-id'), frames: frames.slice(0, max) }
}
window.socket = (url, first, last) => new Promise((resolve, reject) => {
  const socket = new WebSocket(url)
  const frames = []
  socket.onerror = () => reject(new Error('socket failed'))
  socket.onopen = () => socket.send(JSON.stringify(first))
  socket.onmessage = ({ data }) => {
    frames.push(JSON.parse(data))
    if (frames.at(-1).event !== last) return
    socket.close()
    resolve(frames)
  }
})
window.chat = async (baseURL, apiKey, ask) => {
  const { default: OpenAI } = await import('/openai/index.mjs')
  const client = new OpenAI({ baseURL, apiKey, dangerouslyAllowBrowser: true, maxRetries: 0 })
  const text = []
  for await (const { choices } of await client.chat.completions.create({ ...ask, stream: true }))
    text.push(choices[0]?.delta.content ?? '')
  const { response } = await client.chat.completions.create(ask).withResponse()
  const refused = await client.chat.completions.create({ ...ask, model: 'nobody-knows-1' }).catch((error) => error)
  return {
    text: text.join(''),
    provider: response.headers.get('x-provider'),
    refused: [refused.constructor.name, refused.status, refused.code],
  }
}
window.signIn = async (login) => {
  const headers = { 'content-type': 'application/json' }
  return (await fetch('/api/auth/login', { method: 'POST', headers, body: JSON.stringify(login) })).status
}
window.source = (url, names) => {
  window.received = []
  const source = new EventSource(url)
  for (const name of names) source.addEventListener(name, ({ lastEventId, data }) =>
    window.received.push({ event: name, id: lastEventId, data: JSON.parse(data) }))
}
`

interface Streamed {
  readonly status: number
  readonly requestId: string | null
  readonly frames: readonly Frame[]
}

const openAiSdk = new URL('../../../node_modules/openai/', import.meta.url).pathname

/** A customer's web page on its own origin, which also serves OpenAI's SDK. */
class Site {
  readonly #server: Server = createServer((request, response) => {
    const [, module] = /^\/openai\/([\w/.-]+\.m?js)$/.exec(request.url ?? '') ?? []
    if (module === undefined) {
      response.setHeader('content-type', 'text/html').end(`<!doctype html><script>${pageScript}</script>`)
      return
    }
    readFile(join(openAiSdk, normalize(`/${module}`))).then(
      (script) => response.setHeader('content-type', 'text/javascript').end(script),
      () => response.writeHead(404).end(),
    )
  })

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const { port }: AddressInfo = Object(this.#server.address())
    return `http://127.0.0.1:${port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('a browser', () => {
  const sites = [new Site(), new Site()] as const
  let world: World
  let browser: Browser
  let allowed: string
  let other: string
  /** The API with the project's secret key, as the customer's server uses it. */
  let project: Api
  let token: string

  beforeAll(async () => {
    ;[allowed, other] = [await sites[0].listen(), await sites[1].listen()]
    world = await World.start()
    browser = await openBrowser()
    const dashboard = await world.dashboard()
    const created = await dashboard.post('/api/projects', { name: 'Web shop', allowed_origins: [allowed] })
    const key = await dashboard.post(`/api/projects/${created.body.id}/keys`, { name: 'server' })
    project = world.as(key.body.key)
    const tenant = await project.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
    const minted = await project.post('/v1/client-tokens', { tenant_id: tenant.body.id, external_user_id: 'ada' })
    token = minted.body.token
  })
  afterAll(async () => {
    await closePages(browser)
    await world.stop()
    for (const site of sites) site.close()
  })

  const visit = async (origin: string): Promise<Page> => {
    const page = await browser.newPage()
    page.setDefaultTimeout(patience.timeout)
    await page.goto(origin)
    return page
  }

  const run = <T>(page: Page, call: string, ...args: readonly unknown[]): Promise<T> =>
    page.evaluate(`${call}(${args.map((arg) => JSON.stringify(arg) ?? 'undefined').join(', ')})`)

  const turnOf = (session: string) => `${world.url}/v1/sessions/${session}/turns`

  it('runs and streams a turn from a page on an allowed origin with a client token', async () => {
    const page = await visit(allowed)
    const session = await world.as(token).createSession()
    const turn = await run<Streamed>(page, 'stream', turnOf(session), token, { body: { input: 'hello from a page' } })
    expect(turn.frames.at(-1)).toMatchObject({
      event: 'turn.completed',
      data: { output: 'You said: hello from a page' },
    })
    expect(textOf(turn.frames)).toBe('You said: hello from a page')
    expect(turn.requestId, 'the page may read it').toMatch(/^req_/)
    await page.close()
  })

  it('resumes a stream after the last event that the page received', async () => {
    const page = await visit(allowed)
    const session = await world.as(token).createSession()
    const body = { input: `a story of ${'many words '.repeat(20)}` }
    const first = await run<Streamed>(page, 'stream', turnOf(session), token, { body, max: 3 })
    const lastEventId = first.frames.at(-1)?.id
    const rest = await run<Streamed>(page, 'stream', `${world.url}/v1/sessions/${session}/stream`, token, {
      lastEventId,
    })
    const seen = [...first.frames, ...rest.frames]
    expect(seen.map(({ id }) => Number(id))).toEqual(counted(seen))
    expect(seen.at(-1)?.data.output).toBe(textOf(seen))
    await page.close()
  })

  it('lets a page chat with the official SDK and a public key', async () => {
    const agent = await project.post('/v1/agents', { name: 'Shop', config: { model: 'simulated-1' } })
    const keys = `/v1/agents/${agent.body.id}/keys`
    const key = await project.post(keys, { name: 'page', key_type: 'public', allowed_domains: [new URL(allowed).host] })
    const page = await visit(allowed)
    const chatBody = { model: 'simulated-1', messages: [{ role: 'user', content: 'Good morning' }] }
    expect(await run(page, 'chat', `${world.url}/v1`, key.body.key, chatBody)).toEqual({
      text: 'You said: Good morning',
      provider: 'simulated',
      refused: ['PermissionDeniedError', 403, 'secret_key_required'],
    })
    await page.close()
  })

  it('lets no page of another origin read an answer', async () => {
    const page = await visit(other)
    const session = await world.as(token).createSession()
    const body = { input: 'hello' }
    await expect(run(page, 'stream', turnOf(session), token, { body })).rejects.toThrow('Failed to fetch')
    await expect(run(page, 'stream', `${world.url}/v1/sessions/${session}/stream`, token)).rejects.toThrow(
      'Failed to fetch',
    )
    await page.close()
  })

  it('lets no page use an operation that requires a secret key', async () => {
    const page = await visit(allowed)
    const created = run(page, 'stream', `${world.url}/v1/tenants`, token, { body: { external_id: 'x', name: 'X' } })
    await expect(created).rejects.toThrow('Failed to fetch')
    await page.close()
  })

  it('gets CORS headers in preflights only for operations that pages may use', async () => {
    const preflight = async (path: string, method: string, wanted = 'authorization, content-type') => {
      const headers = {
        ...{ origin: allowed, 'access-control-request-method': method },
        'access-control-request-headers': wanted,
      }
      return (await fetch(`${world.url}${path}`, { method: 'OPTIONS', headers })).headers
    }
    const turns = await preflight('/v1/sessions/ses_x/turns', 'POST')
    expect(turns.get('access-control-allow-origin')).toBe(allowed)
    expect(turns.get('access-control-allow-methods')).toContain('POST')
    expect(turns.get('access-control-allow-headers')).toContain('authorization')
    expect(turns.get('access-control-allow-credentials')).toBeNull()
    for (const path of ['/v1/models', '/api/v1/models/simulated-1']) {
      expect((await preflight(path, 'GET')).get('access-control-allow-origin'), path).toBe(allowed)
    }
    const tenants = await preflight('/v1/tenants', 'POST')
    expect(tenants.get('access-control-allow-origin')).toBeNull()
    const login = await preflight('/api/auth/login', 'POST')
    expect(login.get('access-control-allow-origin')).toBeNull()
  })

  it('runs, pauses and cancels a turn over a WebSocket with the token in its URL', async () => {
    const page = await visit(allowed)
    const session = await world.as(token).createSession()
    const url = `${world.url.replace('http', 'ws')}/v1/sessions/${session}/ws?token=${token}`
    const refund = { type: 'function', needsApproval: true, function: { name: 'refund' } }
    const turn = { type: 'turn', input: 'Please use the refund tool for order 7', tools: [refund] }
    const paused = await run<readonly Frame[]>(page, 'socket', url, turn, 'turn.paused')
    expect(paused.map(({ id }) => id)).toEqual(counted(paused))
    const cancelled = await run<readonly Frame[]>(page, 'socket', url, { type: 'cancel' }, 'turn.failed')
    expect(cancelled.at(-1)?.data).toMatchObject({ error: { code: 'cancelled' } })
    await page.close()
  })

  it('follows a session by EventSource, which resumes automatically after kill -9 of the server', async () => {
    const page = await visit(`${world.url}/healthz`)
    await page.evaluate(pageScript)
    const login = { email: world.ownerEmail, password: world.ownerPassword }
    expect(await run(page, 'signIn', login)).toBe(200)
    const [first] = (await (await world.dashboard()).get('/api/projects?limit=100')).body.data.filter(
      ({ name }: { name: string }) => name === 'Default',
    )
    const session = await world.api.createSession()
    const names = ['turn.started', 'response.output_text.delta', 'turn.completed', 'turn.failed']
    await run(page, 'source', `/api/projects/${first.id}/actors/${session}/stream`, names)
    const received = (): Promise<readonly Frame[]> => page.evaluate('window.received')

    const turn = await world.api.turn(session, { input: 'slow please' })
    await vi.waitFor(async () => expect((await received()).filter(isDelta).length).toBeGreaterThan(1), patience)
    await world.crash()
    await turn.ended
    await world.restart()
    await vi.waitFor(async () => expect((await received()).some(endsTurn)).toBe(true), patience)
    const seen = await received()
    expect(rise(seen.map(({ id }) => Number(id)))).toBe(true)
    expect(seen.at(-1)).toMatchObject({ event: 'turn.completed', data: { output: answerTo('slow please') } })
    expect(answerTo('slow please').startsWith(textOf(seen))).toBe(true)
    await page.close()
  })

  it("follows a session by EventSource with the user's token in the URL", async () => {
    const page = await visit(allowed)
    const session = await world.as(token).createSession()
    const names = ['turn.started', 'turn.completed']
    await run(page, 'source', `${world.url}/v1/sessions/${session}/stream?token=${token}`, names)
    await (await world.as(token).turn(session, { input: 'hello' })).ended
    const received = (): Promise<readonly Frame[]> => page.evaluate('window.received')
    await vi.waitFor(async () => expect((await received()).some(endsTurn)).toBe(true), patience)
    expect((await received())[0]?.data).toMatchObject({ input_text: 'hello' })
    await page.close()
  })
})
