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
})
