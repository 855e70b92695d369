import { expect, it } from 'vitest'
import { knowledgeKinds } from '#actors/knowledge/kinds.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { PlacedNodes } from '#test/support/placed-nodes.ts'
import { nodeOn, queries } from './made-sources.ts'

const project = 'prj_a'
const bases = Array.from({ length: 6 }, (_, n) => `kb_${n}`)

const opened = async () => {
  const storage = openMemoryStorage()
  await storage.records.prepare(knowledgeKinds)
  const nodes = new PlacedNodes()
  const three = [1, 2, 3].map(() => nodeOn(storage, project, { placed: nodes.join() }))
  return { storage, nodes, three }
}

it('three nodes find what one finds, whatever a search is limited to, and hold each index once', async () => {
  const { storage, nodes, three } = await opened()
  const [writer] = three
  if (writer === undefined) throw new Error('no node')
  for (const of of bases) {
    await writer.write(await Promise.all([1, 2, 3].map((n) => writer.rowOf(n, { of }))))
    await writer.indexes.settle({ project, tenant: null, base: of })
  }
  const alone = nodeOn(storage, project)
  const filters = [null, { fields: { n: 1 } }, { file: { type: 'gte', key: 'n', value: 2 } as const }]
  for (const of of bases)
    for (const filter of filters) {
      const expected = await alone.search(queries[0] ?? '', of, filter)
      for (const node of three) expect(await node.search(queries[0] ?? '', of, filter)).toEqual(expected)
    }
  expect(nodes.forwarded).toBeGreaterThan(bases.length)
  const held = three.map(({ indexes }) => indexes.bytes)
  expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBe(alone.indexes.bytes)
  expect(Math.min(...held)).toBeGreaterThan(0)
})

it('a node finds what it has written, at once', async () => {
  const { three } = await opened()
  for (const of of bases)
    for (const [at, node] of three.entries()) {
      const before = (await node.search(queries[1] ?? '', of)).data.length
      await node.write([await node.rowOf(10 + at, { of, text: `${queries[1]} ${at}` })])
      expect((await node.search(queries[1] ?? '', of)).data.length).toBe(before + 1)
    }
})
