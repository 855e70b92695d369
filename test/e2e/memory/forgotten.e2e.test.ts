import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { drawnStores, World } from '../world.ts'

const timeout = 120_000

describe.each(drawnStores)('what is forgotten on $store', ({ store }) => {
  let world: World

  beforeAll(async () => {
    world = await World.start({ store })
  })
  afterAll(() => world.stop())

  /** Places that still have a text: files of the data folder as bytes, and documents of the database. */
  const traces = async (text: string): Promise<readonly string[]> => {
    const folder = world.toolEnv.DATA_DIR
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const found = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(text))
    return [...found.map(({ name }) => name), ...Object.keys(await world.mentions(text))]
  }
  const gone = (text: string) =>
    vi.waitFor(async () => expect(await traces(text)).toEqual([]), { ...patience, interval: 250 })

  it('is in no file and no document of the store, as the receipt says', { timeout }, async () => {
    const { api } = world
    for (let n = 0; n < 30; n++) {
      const content = `The heron of canal ${n} ${'stands still '.repeat(n * 20)}`
      await api.post('/v1/memory/write', { userId: 'ada', content })
    }
    const { body } = await api.post('/v1/memory/write', { userId: 'ada', content: 'The heron flew away' })
    await api.post(`/v1/memory/${body.id}`, { content: 'The heron flew home' }, { method: 'PATCH' })
    await api.post('/v1/memory/remember', { userId: 'ada', user: 'My sister lives in Heronsgate.', assistant: 'ok' })
    expect(await traces('heron')).not.toEqual([])
    const forgotten = await api.post('/v1/memory/forget', { userId: 'ada' })
    const files = store === 'sqlite' ? 'overwritten' : 'reused_later'
    // in its first seconds a process stops no write for good
    expect([files, 'pending']).toContain(forgotten.body.receipt.files)
    if (forgotten.body.receipt.files === files) expect(await traces('heron')).toEqual([])
    await gone('heron')
    await gone('Heronsgate')
    await api.post('/v1/memory/write', { userId: 'ada', content: 'The otter swims' })
    expect(await api.post('/v1/memory/forget', { userId: 'ada' })).toMatchObject({ body: { receipt: { files } } })
    expect(await traces('otter')).toEqual([])
  })

  it('is gone from the files with a deleted session, end user and memory', { timeout }, async () => {
    const { api } = world
    const session = (await api.post('/v1/sessions', { external_user_id: 'bob' })).body
    await api.post(`/v1/sessions/${session.id}/turns`, { input: 'The bittern booms', model: 'simulated-1' })
    await api.get(`/v1/sessions/${session.id}`, { method: 'DELETE' })
    await gone('bittern')
    const { body } = await api.post('/v1/memory/write', { userId: 'bob', content: 'The curlew calls' })
    await api.get(`/v1/memory/${body.id}`, { method: 'DELETE' })
    await gone('curlew')
  })
})
