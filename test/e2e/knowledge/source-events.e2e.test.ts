import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answered } from '../api.ts'
import { patience } from '../patience.ts'
import { either, World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'

describe.each(either('sqlite'))('a knowledge source on $store', ({ store }) => {
  let world: World
  let base: KnowledgeBase
  let webhook: string
  beforeAll(async () => {
    world = await World.start({ store, env: { ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } })
    base = await KnowledgeBase.create(world.api)
    // the outcome of the deliveries does not matter here
    const url = `${world.url}/hook`
    const hook = { name: 'sources', url, events: ['knowledge_source.synced', 'knowledge_source.failed'] }
    const { status, body } = await world.api.post('/v1/webhooks', hook)
    expect({ status, body }).toMatchObject({ status: 201 })
    webhook = body.id
  }, 120_000)
  afterAll(() => world.stop())

  const deliveries = async (type: string): Promise<readonly Answered['body'][]> => {
    const { body } = await world.api.get(`/v1/webhook-deliveries?webhook_id=${webhook}&event_type=${type}&limit=100`)
    const ids: readonly { id: string }[] = body.data
    const whole = ids.map(async ({ id }) => (await world.api.get(`/v1/webhook-deliveries/${id}`)).body)
    return (await Promise.all(whole)).map((delivery) => delivery.payload.data)
  }

  it('sends a webhook event when new content was read, and when reading failed', async () => {
    const { id } = await base.add({ text: 'Otters hold hands.' })
    await world.api.post(`${base.path}/sources/${id}/sync`, { text: 'Otters hold hands.' })
    const failed = await base.upload('broken.pdf', 'no pdf at all')
    expect(failed.status).toBe('failed')
    await expect
      .poll(() => deliveries('knowledge_source.synced'), patience)
      .toMatchObject([{ source_id: id, knowledge_base_id: base.id, type: 'text', added: 1, removed: 0, unchanged: 0 }])
    await expect
      .poll(() => deliveries('knowledge_source.failed'), patience)
      .toMatchObject([{ source_id: failed.id, type: 'file', error: { code: failed.error.code } }])
  })

  it('writes an audit log entry when it is created, updated, synced and deleted', async () => {
    const { id } = await base.add({ text: 'Owls see at night.' })
    const path = `${base.path}/sources/${id}`
    await world.api.post(path, { title: 'Owls' }, { method: 'PATCH' })
    await world.api.post(`${path}/sync`, { text: 'Owls see at night and hear well.' })
    await world.api.get(path, { method: 'DELETE' })
    const linesOf = async () => {
      const lines: readonly Answered['body'][] = (await world.api.get('/v1/audit-log?limit=100')).body.data
      return lines.filter(({ resource }) => resource.id === id).map(({ action }) => action)
    }
    await expect
      .poll(linesOf, patience)
      .toEqual(['deleted', 'synced', 'updated', 'created'].map((done) => `knowledge_source.${done}`))
  })
})
