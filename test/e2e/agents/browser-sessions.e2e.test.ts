import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Api } from '../api.ts'
import { World } from '../world.ts'

const every = ['sessions:turn', 'sessions:approve', 'sessions:tools']
/** An answer of some 700 characters, as chats have; one word, since the simulated model waits between words. */
const words = 'The-order-was-shipped-on-Monday-and-should-arrive-by-the-end-of-this-week.'.repeat(9)

let world: World
let tenant: string
const tokenOf = async (permissions: readonly string[], user = 'ada'): Promise<Api> => {
  const body = { tenant_id: tenant, external_user_id: user, permissions }
  return world.as((await world.api.post('/v1/client-tokens', body)).body.token)
}

beforeAll(async () => {
  world = await World.start()
  tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
})
afterAll(() => world.stop())

interface Shown {
  readonly parts: readonly { readonly text?: string }[]
}
const textBytes = (data: readonly Shown[]): number =>
  Buffer.byteLength(data.flatMap(({ parts }) => parts.map(({ text = '' }) => text)).join(''))

it('shows a session of 50 turns with one request and at most twice the bytes of its text', async () => {
  const page = await tokenOf(['sessions:turn'])
  const session = await page.createSession()
  for (let at = 0; at < 50; at++) await (await page.turn(session, { input: `reply exactly: ${words}` })).all()
  const answer = await page.fetch(`/v1/sessions/${session}/messages`)
  const text = await answer.text()
  const { data, last_event_id, has_more } = JSON.parse(text)
  expect([data.length, has_more]).toEqual([100, false])
  expect(Buffer.byteLength(text)).toBeLessThan(2 * textBytes(data))
  const stream = await page.stream(`/v1/sessions/${session}/stream?snapshot=true`)
  const first = await stream.until(() => true)
  expect([first.event, first.id, first.data.data]).toEqual(['session.snapshot', String(last_event_id), data])
  await (await page.turn(session, { input: 'reply exactly: more' })).all()
  await stream.until(({ event }) => event === 'turn.completed')
  const ids = stream.frames.slice(1).map(({ id }) => Number(id))
  expect(ids).toEqual(ids.map((_, at) => last_event_id + 1 + at))
  stream.stop()
})

it('shows turns of a few words with at most 330 bytes a turn beside their text', async () => {
  const page = await tokenOf(['sessions:turn'])
  const session = await page.createSession()
  for (let at = 0; at < 10; at++) await (await page.turn(session, { input: 'reply exactly: Yes.' })).all()
  const text = await (await page.fetch(`/v1/sessions/${session}/messages`)).text()
  const own = textBytes(JSON.parse(text).data)
  const whole = Buffer.byteLength(text)
  console.info(`10 turns of a few words: ${whole} B, ${(whole / own).toFixed(1)} times their text`)
  expect(whole - own).toBeLessThan(330 * 10)
})

it('lets a page approve from another origin, and hides the session of another user', async () => {
  const page = await tokenOf(every)
  const session = await page.createSession()
  const other = await tokenOf(every, 'eve')
  const path = `/v1/sessions/${session}`
  const preflight = await page.fetch(`${path}/approve`, undefined, {
    method: 'OPTIONS',
    headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
  })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
    204,
    'https://shop.example',
  ])
  for (const body of [{ action_id: 'act_01kb0000000000000000000000' }, { action_id: '__proto__' }]) {
    expect((await page.post(`${path}/approve`, body)).status).toBe(404)
    expect((await other.post(`${path}/approve`, body)).status).toBe(404)
    expect((await other.post(`${path}/reject`, body)).status).toBe(404)
  }
  expect((await other.get(`${path}/messages`)).status).toBe(404)
  expect((await other.get(`${path}/stream?snapshot=true`)).status).toBe(404)
  const bare = await tokenOf(['sessions:turn'])
  const refused = await bare.post(`${path}/approve`, { action_id: 'act_1' })
  expect(refused.body.error.code).toBe('secret_key_required')
  const edited = await page.post(`${path}/approve`, { action_id: 'act_1', arguments: { amount: 1 } })
  expect([edited.status, edited.body.error.param]).toEqual([403, 'arguments'])
  const unread = await (await tokenOf(['sessions:approve'])).get(`${path}/messages`)
  expect(unread.body.error.code).toBe('insufficient_scope')
})

it('refuses a page that is no page', async () => {
  const session = await world.api.createSession()
  for (const query of ['limit=0', 'limit=101', 'before=0', 'before=x', 'before=-1', 'limit=1e9'])
    expect((await world.api.get(`/v1/sessions/${session}/messages?${query}`)).status, query).toBe(400)
  expect((await world.api.get(`/v1/sessions/${session}/messages?before=9007199254740991`)).status).toBe(200)
  expect((await world.api.get(`/v1/sessions/${session}/stream?snapshot=maybe`)).status).toBe(400)
})
