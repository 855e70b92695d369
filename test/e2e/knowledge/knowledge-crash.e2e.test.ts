import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { either, World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'

describe.each(either('mongo'))('a source on $store', ({ store }) => {
  let world: World

  beforeAll(async () => {
    world = await World.start({ store })
  })
  afterAll(() => world.stop())

  it('is read completely and once although the server is killed three times', { timeout: 120_000 }, async () => {
    const base = await KnowledgeBase.create(world.api)
    const words = Array.from({ length: 4000 }, (_, n) => `# Part ${n}\n\nMarker${n} stands in this part.`)
    const { body } = await world.api.post(`${base.path}/sources`, { text: words.join('\n\n') })
    for (let kill = 0; kill < 3; kill++) {
      void world.api
        .post(`${base.path}/sources/${body.id}/sync`, { text: `${words.join('\n\n')}\n\nEnd${kill}.` })
        .catch(() => {})
      await new Promise((resolve) => setImmediate(resolve))
      await world.crash()
      await world.restart()
    }
    const last = `${words.join('\n\n')}\n\nThe end.`
    await world.api.post(`${base.path}/sources/${body.id}/sync`, { text: last })
    const source = await base.settled(body.id)
    expect(source).toMatchObject({ status: 'ready', chunk_count: 4000, characters: last.length })
    expect((await world.api.get(`${base.path}/sources/${body.id}/text`)).body).toBe(last)
    expect((await world.api.get(`${base.path}/sources`)).body.data).toHaveLength(1)
    const { data } = (await base.search('Marker2718')).body
    expect(data[0].content).toContain('Marker2718')
    expect(new Set(data.map(({ chunk_id }: { chunk_id: string }) => chunk_id)).size).toBe(data.length)
  })

  it('of a vector store is added although the server is killed while it creates the store', {
    timeout: 120_000,
  }, async () => {
    const client = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
    const file_ids: string[] = []
    for (let n = 0; n < 30; n++) {
      const file = await toFile(Buffer.from(`Text ${n}`), `${n}.txt`)
      file_ids.push((await client.files.create({ file, purpose: 'assistants' })).id)
    }
    const made = client.vectorStores.create({ name: 'Kept', file_ids }).catch(() => null)
    const first = async () => (await client.vectorStores.list()).data.find(({ name }) => name === 'Kept')
    const store = await expect.poll(first, { interval: 1 }).toBeDefined().then(first)
    await world.crash()
    expect(await made).toBeNull()
    await world.restart()
    const id = store?.id ?? ''
    const completed = async () => (await client.vectorStores.retrieve(id)).file_counts.completed
    await expect.poll(completed, { timeout: 30_000 }).toBe(file_ids.length)
    const files: string[] = []
    for await (const each of client.vectorStores.files.list(id, { limit: 100 })) files.push(each.id)
    expect(files.toSorted()).toEqual(file_ids.toSorted())
  })
})
