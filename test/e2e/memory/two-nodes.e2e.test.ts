import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClusterWorld } from '../cluster/cluster-world.ts'

describe('memory with two processes on one MongoDB', () => {
  let world: ClusterWorld
  beforeAll(async () => {
    world = await ClusterWorld.start(2)
  }, 180_000)
  afterAll(() => world.stop())

  const post = (node: number, path: string, body: object) => world.api(node).post(`/v1/memory/${path}`, body)
  const found = async (node: number, query: string): Promise<readonly string[]> => {
    const { body } = await post(node, 'search', { userId: 'ada', query, threshold: 0 })
    return body.results.map(({ content }: { content: string }) => content)
  }

  it('is found, changed and removed on the other process as soon as a request is answered', async () => {
    // loads the user's memories in both processes
    expect([await found(0, 'bees'), await found(1, 'bees')]).toEqual([[], []])
    for (let round = 0; round < 5; round++) {
      const [writer, reader] = [round % 2, (round + 1) % 2]
      const content = `Ada keeps ${round + 2} bees on the roof`
      const { id } = (await post(writer, 'write', { userId: 'ada', content })).body
      expect(await found(reader, 'bees')).toEqual([content])
      const other = `Ada keeps ${round + 2} bees in the garden`
      await world.api(writer).post(`/v1/memory/${id}`, { content: other }, { method: 'PATCH' })
      expect(await found(reader, 'bees')).toEqual([other])
      await world.api(reader).get(`/v1/memory/${id}`, { method: 'DELETE' })
      expect(await found(writer, 'bees')).toEqual([])
    }
  })

  const all = async (userId: string) =>
    (await world.api(0).get(`/v1/memory/list?userId=${userId}&limit=100`)).body.memories

  it('stores what both are sent at the same time once', { timeout: 120_000 }, async () => {
    for (let round = 0; round < 15; round++) {
      const content = `Eva has ${round + 2} lemon trees`
      const both = await Promise.all([0, 1].map((node) => post(node, 'write', { userId: `eva${round}`, content })))
      expect(new Set(both.map(({ body }) => body.id)).size).toBe(1)
      expect(await all(`eva${round}`)).toHaveLength(1)
    }
  })

  it('has one current value of what both are told differently at the same time', { timeout: 120_000 }, async () => {
    const towns = ['Oslo', 'Lisbon', 'Ghent', 'Turin', 'Porto', 'Graz', 'Malmo', 'Leeds']
    for (let round = 0; round < 8; round++) {
      const userId = `ivo${round}`
      const said = towns.map((town, n) => post(n % 2, 'write', { userId, content: `I live in ${town}` }))
      expect((await Promise.all(said)).map(({ status }) => status)).toEqual(towns.map(() => 201))
      const current = (await all(userId)).filter(({ valid_to }: { valid_to: string | null }) => valid_to === null)
      expect(current).toHaveLength(1)
    }
  })
})
