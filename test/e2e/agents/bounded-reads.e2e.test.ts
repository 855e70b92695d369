import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import type { StreamReader } from '../stream-reader.ts'
import { either, World } from '../world.ts'

const mb = 1024 * 1024
const max = 16

let tenants = 0
const tokenOf = async (api: Api, body: object = {}): Promise<string> => {
  const tenant = await api.post('/v1/tenants', { external_id: `tenant-${tenants++}`, name: 'Acme' })
  const requested = { tenant_id: tenant.body.id, external_user_id: 'ada', ...body }
  return (await api.post('/v1/client-tokens', requested)).body.token
}

describe.each(either('sqlite'))('a page of events on $store', ({ store }) => {
  let world: World
  beforeAll(async () => {
    world = await World.start({ store })
  })
  afterAll(() => world.stop())

  it('has at most 4 MB, sets has_more, and is continued after its last event', async () => {
    const session = await world.api.createSession()
    for (let n = 0; n < 5; n++) {
      const turn = await world.api.turn(session, { input: `reply exactly: ok ${'x'.repeat(mb - 2000)}` })
      await turn.all()
    }
    const sequences: number[] = []
    let pages = 0
    for (let after = 0, more = true; more; after = sequences.at(-1) ?? 0) {
      const answer = await world.api.fetch(`/v1/sessions/${session}/events?limit=100&after=${after}`)
      const text = await answer.text()
      expect(text.length).toBeLessThanOrEqual(4 * mb)
      const { data, pagination } = JSON.parse(text)
      expect(data.length).toBeGreaterThan(0)
      sequences.push(...data.map(({ sequence }: { sequence: number }) => sequence))
      more = pagination.has_more
      pages++
    }
    expect(pages).toBeGreaterThan(1)
    expect(sequences).toEqual(sequences.map((_, at) => at + 1))
    const last = await world.api.get(`/v1/sessions/${session}/events?limit=1&page=${sequences.length}`)
    expect(last.body.pagination).toMatchObject({ total: sequences.length, has_more: false })
  })
})

describe('streams of one browser', () => {
  let world: World
  beforeAll(async () => {
    world = await World.start()
  })
  afterAll(() => world.stop())

  const opened = (browser: Api, session: string): Promise<readonly StreamReader[]> =>
    Promise.all(Array.from({ length: max }, () => browser.stream(`/v1/sessions/${session}/stream`)))

  it('are limited to 16: further ones are refused in the error format of their operation', async () => {
    const browser = world.as(await tokenOf(world.api))
    const session = await browser.createSession()
    const readers = await opened(browser, session)
    const refused = await browser.get(`/v1/sessions/${session}/stream`)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.body.error).toMatchObject({ type: 'rate_limit_error', code: 'too_many_streams' })
    const turn = await browser.post(`/v1/sessions/${session}/turns`, { input: 'hi' })
    expect(turn.body.error).toMatchObject({ code: 'too_many_streams' })
    await expect(refusalOf(browser, session)).resolves.toBe('refused')
    expect((await browser.get(`/v1/sessions/${session}`)).body.turn_count).toBe(0)
    readers[0]?.stop()
    const again = await vi.waitFor(() => browser.turn(session, { input: 'hi' }), patience)
    expect((await again.all()).at(-1)?.event).toBe('turn.completed')
    for (const reader of readers) reader.stop()
  })

  it('are counted per user: another user and a secret key have their own limits', async () => {
    const token = await tokenOf(world.api)
    const session = await world.as(token).createSession()
    const readers = await opened(world.as(token), session)
    const more = await opened(world.api, session)
    const other = world.as(await tokenOf(world.api, { external_user_id: 'bob' }))
    const turn = await other.turn(await other.createSession(), { input: 'hi' })
    expect((await turn.all()).at(-1)?.event).toBe('turn.completed')
    for (const reader of [...readers, ...more]) reader.stop()
  })

  it('of a public key are counted too, including chats, which are refused in the format of their API', async () => {
    const agent = await world.api.post('/v1/agents', { name: 'open', config: { model: 'simulated-1' } })
    const keys = await world.api.post(`/v1/agents/${agent.body.id}/keys`, { name: 'page', key_type: 'public' })
    const browser = world.as(keys.body.key)
    const session = await browser.createSession({ agent_id: agent.body.id })
    const readers = await opened(browser, session)
    const messages = [{ role: 'user', content: 'hi' }]
    const chat = await browser.post('/v1/chat/completions', { model: 'simulated-1', messages, stream: true })
    expect(chat).toMatchObject({ status: 429, body: { error: { code: 'too_many_streams' } } })
    const flat = await browser.post('/api/ai/chat', { model: 'simulated-1', messages, stream: true })
    expect(flat).toMatchObject({ status: 429, body: { error: 'too_many_streams' } })
    const whole = await browser.post('/v1/chat/completions', { model: 'simulated-1', messages })
    expect(whole.status).toBe(200)
    for (const reader of readers) reader.stop()
    await vi.waitFor(async () => {
      for (let n = 0; n < max + 1; n++) {
        const streamed = await browser.fetch('/v1/chat/completions', { model: 'simulated-1', messages, stream: true })
        expect(streamed.status).toBe(200)
        expect(await streamed.text()).toContain('[DONE]')
      }
    }, patience)
  })
})

describe('the body of a chat', () => {
  it('may have 8 MB, or MAX_CHAT_BODY_MB; a larger one is refused with the limit', async () => {
    const usual = await World.start()
    const other = await World.start({ env: { MAX_CHAT_BODY_MB: '2' } })
    for (const [world, limit] of [
      [usual, 8],
      [other, 2],
    ] as const) {
      for (const path of ['/v1/chat/completions', '/api/ai/chat', '/v1/messages', '/v1/responses']) {
        const refused = await world.api.post(
          path,
          JSON.stringify({ model: 'simulated-1', input: 'x'.repeat(limit * mb) }),
        )
        expect(refused.status).toBe(413)
        expect(JSON.stringify(refused.body)).toContain(`larger than the ${limit} MB`)
      }
    }
    await usual.stop()
    await other.stop()
  })
})

const refusalOf = (browser: Api, session: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = browser.socket(`/v1/sessions/${session}/ws`)
    socket.onerror = () => resolve('refused')
    socket.onopen = () => resolve('opened')
  })
