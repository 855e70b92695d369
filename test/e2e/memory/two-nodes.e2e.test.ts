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
})
