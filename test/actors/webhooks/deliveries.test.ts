import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { retryDelaysMs } from '#machines/webhook-delivery/webhook-delivery.ts'
import { answerChecker } from '#specs/dsl/validate.ts'
import { webhookEvents } from '#specs/events/webhook-events.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { calm } from '#test/support/virtual-clock.ts'
import {
  callOf,
  type Delivery,
  deliveriesOf,
  deliveriesWhen,
  newWebhook,
  openWorld,
  runCompleted,
  type World,
} from './world.ts'

let world: World

beforeEach(async () => {
  world = await openWorld()
})

afterEach(() => world.close())

const pollMs = 1000
const get = (id: string) => world.useCases['webhook_deliveries.get'](callOf({ delivery_id: id }, {}, undefined))
const replay = (id: string) => world.useCases['webhook_deliveries.replay'](callOf({ delivery_id: id }, {}, {}))

describe('an event', () => {
  it('reaches a subscribed webhook with a valid Standard Webhooks signature', async () => {
    const { secret } = await newWebhook(world)
    await runCompleted(world)
    const [request] = await world.receiver.requests(1)
    // the library uses the real time, which differs from the virtual one
    const at = Number(request?.headers['webhook-timestamp']) * 1000
    expect(at).toBe(world.clock.now())
    const verified = verify(secret, request)
    expect(verified).toMatchObject({ type: 'run.completed', data: { status: 'completed', tenant_id: 'ten_1' } })
    const [delivery] = await deliveriesWhen(world, ({ status }) => status === 'delivered')
    expect(delivery).toMatchObject({
      attempt_count: 1,
      last_status_code: 204,
      tenant_id: 'ten_1',
      next_attempt_at: null,
    })
    expect(request?.headers['webhook-id']).toBe(delivery?.event_id)
  })

  it('carries data that matches its declared schema', async () => {
    await newWebhook(world)
    await runCompleted(world)
    const [request] = await world.receiver.requests(1)
    const { data } = JSON.parse(request?.body ?? '')
    expect(answerChecker(webhookEvents['run.completed'].data.json)(data)).toBeNull()
  })

  it('is delivered once to each webhook, however often it is notified', async () => {
    await newWebhook(world)
    await newWebhook(world, { events: ['*'] })
    for (let notified = 0; notified < 3; notified++) await runCompleted(world, 'run_same')
    await deliveriesWhen(world, ({ status }) => status === 'delivered')
    expect(await deliveriesOf(world)).toHaveLength(2)
    expect(world.receiver.received).toHaveLength(2)
    const ids = world.receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
  })

  it('reaches no webhook that is not subscribed, is inactive, or belongs to another project', async () => {
    await newWebhook(world, { events: ['run.failed', 'tenant.created'] })
    await newWebhook(world, { is_active: false })
    const { receiver, useCases } = world
    const foreign = { name: 'theirs', url: receiver.url, events: ['*' as const], is_active: true }
    await useCases['webhooks.create'](callOf({}, {}, foreign, 'prj_b'))
    await runCompleted(world)
    await calm()
    expect(await deliveriesOf(world)).toEqual([])
    expect(receiver.received).toEqual([])
  })
})

const verify = (secret: string, request: { headers: object; body: string } | undefined): unknown => {
  const headers = Object.fromEntries(
    Object.entries(request?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  )
  const timestamp = String(Math.floor(Date.now() / 1000))
  const library = new Webhook(secret)
  const { 'webhook-id': id = '', 'webhook-timestamp': sentAt = '', 'webhook-signature': signature = '' } = headers
  const body = request?.body ?? ''
  const expected = library.sign(id, new Date(Number(sentAt) * 1000), body)
  expect(signature.split(' ')).toContain(expected)
  return library.verify(body, {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': library.sign(id, new Date(Number(timestamp) * 1000), body),
  })
}

describe('a delivery that fails', () => {
  beforeEach(async () => {
    await newWebhook(world)
    world.receiver.reply = () => ({ status: 503, body: 'come back later' })
  })

  it('is attempted at once and then on schedule, eight times in all, under one webhook-id', async () => {
    await runCompleted(world)
    for (const [index, delay] of retryDelaysMs.entries()) {
      const [waiting] = await deliveriesWhen(world, ({ next_attempt_at }) => next_attempt_at !== null)
      expect(waiting).toMatchObject({ status: 'pending', attempt_count: index + 1, last_error: 'http_error' })
      const dueMs = Date.parse(waiting?.next_attempt_at ?? '') - world.clock.now()
      expect(dueMs).toBeGreaterThan(delay - 10 * pollMs)
      expect(dueMs).toBeLessThanOrEqual(delay)
      await world.clock.leap(dueMs - 1)
      expect(world.receiver.received).toHaveLength(index + 1)
      await world.clock.advance(pollMs)
      await world.receiver.requests(index + 2)
    }
    const [failed] = await deliveriesWhen(world, ({ status }) => status === 'failed')
    expect(failed).toMatchObject({ attempt_count: 8, last_status_code: 503, next_attempt_at: null })
    expect(new Set(world.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(world.receiver.received.map(({ body }) => body)).size).toBe(1)
  })

  it('shows every attempt with its request and response', async () => {
    await runCompleted(world)
    const [{ id } = { id: '' }] = await deliveriesWhen(world, ({ next_attempt_at }) => next_attempt_at !== null)
    world.receiver.reply = () => ({ status: 200, body: 'thank you' })
    await world.clock.leap((retryDelaysMs[0] ?? 0) + pollMs)
    await world.clock.advance(pollMs)
    await deliveriesWhen(world, ({ status }) => status === 'delivered')
    const { attempts, payload, event_id } = await get(id)
    expect(payload).toMatchObject({ type: 'run.completed', data: { status: 'completed' } })
    expect(attempts).toMatchObject([
      { attempt: 1, url: world.receiver.url, status_code: 503, error: 'http_error', response_body: 'come back later' },
      { attempt: 2, status_code: 200, error: null, response_body: 'thank you' },
    ])
    expect(attempts[0]?.request_headers).toMatchObject({ 'webhook-id': event_id })
  })

  it('continues after a crash during an attempt and after a crash during a wait', async () => {
    world.receiver.reply = () => null
    await runCompleted(world)
    await world.receiver.requests(1)
    const { clock, storage, receiver } = world
    const second = await openWorld({ clock, storage, receiver })
    await receiver.requests(2)
    receiver.reply = () => ({ status: 500 })
    const third = await openWorld({ clock, storage, receiver })
    await receiver.requests(3)
    await deliveriesWhen(third, ({ next_attempt_at }) => next_attempt_at !== null)
    receiver.reply = () => ({ status: 200 })
    const fourth = await openWorld({ clock, storage, receiver })
    await clock.leap((retryDelaysMs[0] ?? 0) + pollMs)
    await clock.advance(pollMs)
    await deliveriesWhen(fourth, ({ status }) => status === 'delivered')
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    await second.runtime.drain(0)
    await third.runtime.drain(0)
    await fourth.runtime.drain(0)
  })

  it('is not attempted again because the store cannot note that it failed', async () => {
    const { records } = world.storage
    const { replace } = records
    records.replace = () => Promise.reject(new StoreUnavailable('away'))
    await runCompleted(world)
    await world.receiver.requests(1)
    for (let tenths = 0; tenths < 20; tenths++) await world.clock.advance(100)
    const attempts = world.receiver.received.length
    records.replace = replace
    await world.clock.advance(2500)
    expect(attempts).toBe(1)
  })

  it('ends if its webhook was deleted meanwhile', async () => {
    await runCompleted(world)
    const [delivery] = await deliveriesWhen(world, ({ next_attempt_at }) => next_attempt_at !== null)
    await world.useCases['webhooks.delete'](callOf({ webhook_id: delivery?.webhook_id ?? '' }, {}, undefined))
    await world.clock.leap((retryDelaysMs[0] ?? 0) + pollMs)
    await world.clock.advance(pollMs)
    const [failed] = await deliveriesWhen(world, ({ status }) => status === 'failed')
    expect(failed).toMatchObject({ last_error: 'webhook_deleted', attempt_count: 1 })
    expect(world.receiver.received).toHaveLength(1)
  })
})

describe('deliveries to an endpoint that hangs', () => {
  const lines = { ofWebhook: 4, ofProject: 1_000, ofNode: 4_000 }
  const count = 60
  const inMemory = 16 + lines.ofWebhook

  it('wait in the store beyond a bounded line, even across a crash, and are all delivered once it answers', async () => {
    const { clock, storage, receiver } = world
    const first = await openWorld({ clock, storage, receiver, waiting: lines })
    await newWebhook(first)
    receiver.reply = () => null
    for (let event = 0; event < count; event++) await runCompleted(first)
    const isPostponed = ({ next_attempt_at }: Delivery) => next_attempt_at !== null
    while ((await deliveriesOf(first)).filter(isPostponed).length < count - inMemory) await calm()
    expect(first.host.effects.running).toBe(inMemory)
    const waiting = (await deliveriesOf(first)).filter(isPostponed)
    expect(waiting).toMatchObject(waiting.map(() => ({ status: 'pending', attempt_count: 0, last_error: null })))
    // another process takes over the store, as after kill -9: nothing of the first one remains
    const second = await openWorld({ clock, storage, receiver, waiting: lines })
    receiver.reply = () => ({ status: 204 })
    for (let read = 0; read < 100 && !(await allDelivered(second)); read++) await clock.advance(pollMs)
    expect(await deliveriesOf(second)).toMatchObject(Array.from({ length: count }, () => ({ status: 'delivered' })))
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(count)
    await second.runtime.drain(0)
  })

  const allDelivered = async (of: World): Promise<boolean> => {
    await calm()
    return (await deliveriesOf(of)).every(({ status }) => status === 'delivered')
  }
})

describe('the log of deliveries', () => {
  it('is filtered by webhook, status and event', async () => {
    const first = await newWebhook(world)
    const second = await newWebhook(world, { events: ['*'] })
    await runCompleted(world)
    await deliveriesWhen(world, ({ status }) => status === 'delivered')
    const idsOf = async (where: object) => (await deliveriesOf(world, where)).map(({ webhook_id }) => webhook_id).sort()
    expect(await idsOf({ webhook_id: first.id })).toEqual([first.id])
    expect(await idsOf({ status: 'delivered', event_type: 'run.completed' })).toEqual([first.id, second.id].sort())
    const all = { webhook_id: second.id, status: 'delivered', event_type: 'run.completed' }
    for (const left of ['', 'webhook_id', 'status', 'event_type']) {
      const where = Object.fromEntries(Object.entries(all).filter(([name]) => name !== left))
      expect(await idsOf(where)).toContain(second.id)
      expect(await idsOf({ ...where, webhook_id: 'whk_other' })).toEqual([])
      expect(await idsOf({ ...where, status: 'failed' })).toEqual([])
    }
    expect(await idsOf({ status: 'failed' })).toEqual([])
    expect(await idsOf({ event_type: 'run.failed' })).toEqual([])
  })

  it('shows nothing to another project', async () => {
    await newWebhook(world)
    await runCompleted(world)
    const [{ id } = { id: '' }] = await deliveriesWhen(world, ({ status }) => status === 'delivered')
    const foreign = callOf({ delivery_id: id }, { limit: 10 }, undefined, 'prj_b')
    const { useCases } = world
    expect((await useCases['webhook_deliveries.list'](foreign)).data).toEqual([])
    await expect(useCases['webhook_deliveries.get'](foreign)).rejects.toMatchObject({ code: 'not_found' })
    await expect(
      useCases['webhook_deliveries.replay'](callOf({ delivery_id: id }, {}, {}, 'prj_b')),
    ).rejects.toMatchObject({ code: 'not_found' })
  })

  it('removes a delivery after 30 days', async () => {
    await newWebhook(world)
    await runCompleted(world)
    const [{ id } = { id: '' }] = await deliveriesWhen(world, ({ status }) => status === 'delivered')
    await world.clock.leap(30 * 24 * 60 * 60 * 1000)
    await world.clock.advance(2 * pollMs)
    expect(await deliveriesOf(world)).toEqual([])
    await expect(get(id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await world.storage.commits.head(id)).toBeNull()
  })
})

describe('a replay', () => {
  it('is a new delivery with the same webhook-id and body', async () => {
    await newWebhook(world)
    await runCompleted(world)
    const [first] = await deliveriesWhen(world, ({ status }) => status === 'delivered')
    const again = await replay(first?.id ?? '')
    expect(again).toMatchObject({ replay_of: first?.id, event_id: first?.event_id, tenant_id: 'ten_1' })
    expect(again.id).not.toBe(first?.id)
    const [one, two] = await world.receiver.requests(2)
    expect(two?.headers['webhook-id']).toBe(one?.headers['webhook-id'])
    expect(two?.body).toBe(one?.body)
  })

  it('is refused if its webhook is deleted or inactive', async () => {
    const webhook = await newWebhook(world)
    await runCompleted(world)
    const [{ id } = { id: '' }] = await deliveriesWhen(world, ({ status }) => status === 'delivered')
    const { useCases } = world
    await useCases['webhooks.update'](callOf({ webhook_id: webhook.id }, {}, { is_active: false }))
    await expect(replay(id)).rejects.toMatchObject({ code: 'invalid_transition' })
    await useCases['webhooks.delete'](callOf({ webhook_id: webhook.id }, {}, undefined))
    await expect(replay(id)).rejects.toMatchObject({ code: 'invalid_transition' })
  })
})

describe('a test delivery', () => {
  const test = (id: string) => world.useCases['webhooks.test'](callOf({ webhook_id: id }, {}, undefined))

  it('reaches a webhook that is inactive and not subscribed to it', async () => {
    const { id } = await newWebhook(world, { events: ['tenant.created'], is_active: false })
    const delivery = await test(id)
    expect(delivery).toMatchObject({ event_type: 'webhook.test', webhook_id: id, tenant_id: null })
    const [request] = await world.receiver.requests(1)
    const payload = JSON.parse(request?.body ?? '')
    expect(payload).toMatchObject({ type: 'webhook.test', data: { webhook_id: id } })
    expect(answerChecker(webhookEvents['webhook.test'].data.json)(payload.data)).toBeNull()
  })

  it('is attempted once, even if it fails', async () => {
    const { id } = await newWebhook(world)
    world.receiver.reply = () => ({ status: 500 })
    await test(id)
    const [delivery] = await deliveriesWhen(world, ({ status }) => status !== 'pending')
    expect(delivery).toMatchObject({ status: 'failed', attempt_count: 1, last_status_code: 500 })
  })

  it('is refused for an unknown webhook', async () => {
    await expect(test('whk_unknown')).rejects.toMatchObject({ code: 'not_found' })
  })
})
