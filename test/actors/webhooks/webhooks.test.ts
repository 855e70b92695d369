import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { webhooks } from '#actors/webhooks/kinds.ts'
import { failingMs } from '#actors/webhooks/webhook-endpoints.ts'
import { maxWebhooks } from '#specs/resources/webhooks.ts'
import { projectScope } from '#storage/scope.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { callOf, deliveriesOf, deliveriesWhen, newWebhook, openWorld, runCompleted, type World } from './world.ts'

let world: World

beforeEach(async () => {
  world = await openWorld()
})

afterEach(() => world.close())

const dayMs = 24 * 60 * 60 * 1000
const ofWebhook = (id: string) => callOf({ webhook_id: id }, {}, undefined)
const get = (id: string) => world.useCases['webhooks.get'](ofWebhook(id))
const update = (id: string, body: object) => world.useCases['webhooks.update'](callOf({ webhook_id: id }, {}, body))
const rotate = (id: string, grace_s: number) =>
  world.useCases['webhooks.rotate'](callOf({ webhook_id: id }, {}, { grace_s }))

/** Notifies an event, and resolves when its delivery has been attempted. */
const notified = async () => {
  const before = (await deliveriesOf(world)).length
  await runCompleted(world)
  await deliveriesWhen(world, ({ attempt_count }) => attempt_count > 0)
  expect(await deliveriesOf(world)).toHaveLength(before + 1)
}

describe('a webhook', () => {
  it('shows its secret only in the response that creates it', async () => {
    const made = await newWebhook(world)
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const { secret: _shown, ...rest } = made
    expect(await get(made.id)).toEqual(rest)
    const { data } = await world.useCases['webhooks.list'](callOf({}, { limit: 20 }, undefined))
    expect(data).toEqual([rest])
    expect(JSON.stringify(await update(made.id, { name: 'renamed' }))).not.toContain('whsec_')
  })

  it('is one of at most a hundred of its project, also when they are created at the same time', async () => {
    for (let n = 1; n < maxWebhooks; n++) await newWebhook(world)
    const made = await Promise.allSettled([1, 2, 3].map(() => newWebhook(world)))
    const codes = made.map((each) => (each.status === 'rejected' ? each.reason.code : 'made'))
    expect(codes.sort()).toEqual(['made', 'webhook_limit_reached', 'webhook_limit_reached'])
    const { data } = await world.useCases['webhooks.list'](callOf({}, { limit: 1 }, undefined))
    await world.useCases['webhooks.delete'](ofWebhook(data[0]?.id ?? ''))
    await expect(newWebhook(world)).resolves.toMatchObject({ is_active: true })
  })

  it('stores its secret sealed for its row and field', async () => {
    const { id, secret } = await newWebhook(world)
    const row = await world.storage.records.get(webhooks, projectScope('prj_a'), id)
    expect(row?.data.secret).toBe(`prj_a|webhooks|${id}|secret#${secret}`)
  })

  it.each([
    'http://127.0.0.1/hook',
    'http://169.254.169.254/latest',
    'http://[::1]/',
    'https://user:secret@example.com/',
  ])('is refused for %s', async (url) => {
    const refusal = { code: 'invalid_field', details: { param: 'url' } }
    await expect(newWebhook(world, { url })).rejects.toMatchObject(refusal)
    const { id } = await newWebhook(world)
    await expect(update(id, { url })).rejects.toMatchObject(refusal)
  })

  it('lists each event once, however often it was given', async () => {
    const named = await newWebhook(world, { events: ['run.failed', 'run.completed', 'run.failed'] })
    expect(named.events).toEqual(['run.failed', 'run.completed'])
    const { events } = await update(named.id, { events: ['run.completed', 'run.completed'] })
    expect(events).toEqual(['run.completed'])
  })

  it('receives events according to its current settings', async () => {
    const { id } = await newWebhook(world, { events: ['run.failed'] })
    await runCompleted(world)
    await update(id, { events: ['run.completed'] })
    await notified()
    await update(id, { is_active: false })
    await runCompleted(world)
    await update(id, { is_active: true })
    await notified()
    expect(await deliveriesOf(world)).toHaveLength(2)
  })

  it('is not found by another project', async () => {
    const { id } = await newWebhook(world)
    const foreign = callOf({ webhook_id: id }, { limit: 20 }, { name: 'mine now' }, 'prj_b')
    const { useCases } = world
    const calls = [
      useCases['webhooks.get']({ ...foreign, body: undefined }),
      useCases['webhooks.update'](foreign),
      useCases['webhooks.delete']({ ...foreign, body: undefined }),
      useCases['webhooks.rotate']({ ...foreign, body: { grace_s: 0 } }),
      useCases['webhooks.test']({ ...foreign, body: undefined }),
    ]
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'not_found' })
    expect((await useCases['webhooks.list']({ ...foreign, body: undefined })).data).toEqual([])
    expect(await get(id)).toMatchObject({ name: 'mine' })
  })
})

describe('a rotated secret', () => {
  const signaturesOf = async (
    count: number,
  ): Promise<{ signatures: readonly string[]; expected: (s: string) => string }> => {
    const request = (await world.receiver.requests(count))[count - 1]
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given } = request?.headers ?? {}
    return {
      signatures: String(given).split(' '),
      expected: (secret) => new Webhook(secret).sign(String(id), new Date(Number(at) * 1000), request?.body ?? ''),
    }
  }

  it('signs alone after the grace period, and together with the old secret until then', async () => {
    const { id, secret: old } = await newWebhook(world)
    const { secret, previous_secret_expires_at } = await rotate(id, 3600)
    expect(secret).not.toBe(old)
    expect(Date.parse(previous_secret_expires_at ?? '')).toBe(world.clock.now() + 3600_000)
    await notified()
    const during = await signaturesOf(1)
    expect(during.signatures).toEqual([during.expected(secret), during.expected(old)])
    await world.clock.leap(3600_000)
    await notified()
    const after = await signaturesOf(2)
    expect(after.signatures).toEqual([after.expected(secret)])
    expect(await get(id)).toMatchObject({ previous_secret_expires_at: null })
  })

  it('signs with the secret of before a rotation that is repeated after a crash', async () => {
    const { id, secret: old } = await newWebhook(world)
    const idempotency = { cause: 'one', fingerprint: 'same', seed: null }
    const again = { ...callOf({ webhook_id: id }, {}, { grace_s: 3600 }), idempotency }
    await world.useCases['webhooks.rotate'](again)
    const { secret } = await world.useCases['webhooks.rotate'](again)
    await notified()
    const { signatures, expected } = await signaturesOf(1)
    expect(signatures).toEqual([expected(secret), expected(old)])
  })

  it('signs with each secret of before during the grace period of that one, with at most four', async () => {
    const { id, secret: first } = await newWebhook(world)
    const { secret: second } = await rotate(id, 7200)
    const { secret: third, previous_secret_expires_at } = await rotate(id, 3600)
    expect(Date.parse(previous_secret_expires_at ?? '')).toBe(world.clock.now() + 7200_000)
    await notified()
    const both = await signaturesOf(1)
    expect(both.signatures).toEqual([third, second, first].map(both.expected))
    await world.clock.leap(3600_000)
    await notified()
    const later = await signaturesOf(2)
    expect(later.signatures).toEqual([third, first].map(later.expected))
    const made = []
    for (const grace of [7200, 7201, 7202, 7203]) made.push((await rotate(id, grace)).secret)
    await notified()
    const most = await signaturesOf(3)
    expect(most.signatures).toEqual([...made.toReversed(), third].map(most.expected))
  })

  it('signs with the secret of a row of an earlier release, which has it by itself', async () => {
    const { id, secret } = await newWebhook(world)
    const row = await world.storage.records.get(webhooks, projectScope('prj_a'), id)
    const seal = (text: string) => `prj_a|webhooks|${id}|secret#${text}`
    const data = { ...row?.data, previous_secret: seal('whsec_b2xk'), previous_until_ms: world.clock.now() + 60_000 }
    if (row !== null) await world.storage.records.replace(webhooks, { ...row, data, version: row.version + 1 })
    await notified()
    const { signatures, expected } = await signaturesOf(1)
    expect(signatures).toEqual([secret, 'whsec_b2xk'].map(expected))
  })

  it('signs alone at once without a grace period', async () => {
    const { id } = await newWebhook(world)
    const { secret } = await rotate(id, 0)
    await notified()
    const { signatures, expected } = await signaturesOf(1)
    expect(signatures).toEqual([expected(secret)])
  })
})

describe('an endpoint that fails', () => {
  it('stays active if the address that it had before answers 410, and gets the event at the new one', async () => {
    const { receiver, useCases, clock } = world
    const { id } = await newWebhook(world, { url: `${receiver.url}/old` })
    receiver.reply = ({ path }) => {
      if (!path.endsWith('/old')) return { status: 204 }
      void useCases['webhooks.update'](callOf({ webhook_id: id }, {}, { url: `${receiver.url}/new` }))
      return { status: 410 }
    }
    await runCompleted(world)
    await deliveriesWhen(world, ({ attempt_count }) => attempt_count === 1)
    expect(await get(id)).toMatchObject({ is_active: true, disabled_reason: null, failing_since: null })
    await clock.advance(6_000)
    expect(await deliveriesWhen(world, ({ status }) => status === 'delivered')).toHaveLength(1)
  })

  it('is disabled when it answers 410, and the delivery has failed', async () => {
    const { id } = await newWebhook(world)
    world.receiver.reply = () => ({ status: 410 })
    await notified()
    expect(await get(id)).toMatchObject({ is_active: false, disabled_reason: 'gone' })
    expect(await deliveriesOf(world)).toMatchObject([{ status: 'failed', last_status_code: 410, attempt_count: 1 }])
    await runCompleted(world)
    expect(await deliveriesOf(world)).toHaveLength(1)
  })

  it('is disabled after five days of failures', async () => {
    const { id } = await newWebhook(world)
    world.receiver.reply = () => ({ status: 500 })
    const since = world.clock.now()
    await notified()
    expect(await get(id)).toMatchObject({ is_active: true, failing_since: new Date(since).toISOString() })
    await world.clock.leap(failingMs - dayMs)
    await notified()
    expect(await get(id)).toMatchObject({ is_active: true, failing_since: new Date(since).toISOString() })
    // the next attempt of the pending delivery
    await world.clock.leap(dayMs)
    await world.clock.advance(1000)
    while ((await get(id)).is_active) await calm()
    expect(await get(id)).toMatchObject({ disabled_reason: 'failing' })
  })

  it('remains active after one success, however long it had failed before', async () => {
    const { id } = await newWebhook(world)
    world.receiver.reply = () => ({ status: 500 })
    await notified()
    await world.clock.leap(failingMs - dayMs)
    world.receiver.reply = () => ({ status: 200 })
    await notified()
    expect(await get(id)).toMatchObject({ failing_since: null })
    world.receiver.reply = () => ({ status: 500 })
    await world.clock.leap(2 * dayMs)
    await notified()
    expect(await get(id)).toMatchObject({ is_active: true })
  })

  it('has its failures reset when it is activated again', async () => {
    const { id } = await newWebhook(world)
    world.receiver.reply = () => ({ status: 410 })
    await notified()
    expect(await update(id, { is_active: true })).toMatchObject({
      is_active: true,
      disabled_reason: null,
      failing_since: null,
    })
    world.receiver.reply = () => ({ status: 200 })
    await notified()
  })
})
