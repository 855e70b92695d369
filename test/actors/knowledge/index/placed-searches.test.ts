import { expect, it } from 'vitest'
import { ErasedCopies } from '#actors/capability/erased-copies.ts'
import { knowledgeIndexes, knowledgeKinds, sourceRows } from '#actors/knowledge/kinds.ts'
import { projectScope, StoreUnavailable } from '#storage/index.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { PlacedNodes } from '#test/support/placed-nodes.ts'
import { nodeOn, queries } from './made-sources.ts'

const project = 'prj_a'
const bases = Array.from({ length: 6 }, (_, n) => `kb_${n}`)

const opened = async () => {
  const storage = openMemoryStorage()
  await storage.records.prepare(knowledgeKinds)
  const nodes = new PlacedNodes()
  const three = [1, 2, 3].map(() => {
    const placed = nodes.join()
    const copies = new ErasedCopies(placed)
    const node = nodeOn(storage, project, { placed })
    copies.keptBy((erased) => node.indexes.dropErased(erased))
    return { ...node, copies }
  })
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

it('a node finds what it has written once that is in the index, although no search has made it wait', async () => {
  const { storage, three } = await opened()
  const revision = async (of: string) =>
    (await storage.records.get(knowledgeIndexes, projectScope(project), `kix_${of.slice(3)}`))?.data.revision ?? 0
  for (const of of bases)
    for (const [at, node] of three.entries()) {
      const before = (await node.search(queries[1] ?? '', of)).data.length
      const known = await revision(of)
      await node.write([await node.rowOf(10 + at, { of, text: `${queries[1]} ${at}` })])
      await expect.poll(() => revision(of), { interval: 2 }).not.toBe(known)
      // the part of the write that remains is done
      await new Promise((resolve) => setImmediate(resolve))
      expect((await node.search(queries[1] ?? '', of)).data.length).toBe(before + 1)
    }
})

it('every search of a changed base waits until its rows are shown, also at the same time and after a failure', async () => {
  const storage = openMemoryStorage()
  await storage.records.prepare(knowledgeKinds)
  const waits: PromiseWithResolvers<void>[] = []
  const shown = () => {
    const wait = Promise.withResolvers<void>()
    waits.push(wait)
    return wait.promise
  }
  const { indexes, base } = nodeOn(storage, project, { shown })
  const settle = () => indexes.settle({ project, tenant: null, base })
  indexes.changed(base)
  const both = [settle(), settle()]
  let settled = 0
  for (const each of both) each.finally(() => settled++).catch(() => {})
  await new Promise((resolve) => setImmediate(resolve))
  expect([settled, waits.length]).toEqual([0, 1])
  waits[0]?.reject(new StoreUnavailable('away'))
  for (const each of both) await expect(each).rejects.toThrow('away')
  const again = settle()
  expect(waits.length).toBe(2)
  waits[1]?.resolve()
  expect(await again).toBe(true)
})

it('no node keeps an index of what was erased, whichever node erases it', async () => {
  const { three } = await opened()
  const [eraser] = three
  for (const of of bases) await eraser?.search(queries[0] ?? '', of)
  const held = () => three.reduce((sum, { indexes }) => sum + indexes.bytes, 0)
  const before = held()
  await eraser?.copies.drop({ project, tenant: null, user: 'ada' })
  await eraser?.copies.drop({ project, tenant: 'ten_a', user: null })
  await eraser?.copies.drop({ project: 'prj_b', tenant: null, user: null })
  expect([before > 0, held()]).toEqual([true, before])
  await eraser?.copies.drop({ project, tenant: null, user: null })
  expect(held()).toBe(0)
})

it('an index that is written while its base is deleted leaves nothing', async () => {
  const { storage, three } = await opened()
  const [node, other] = three
  if (node === undefined || other === undefined) throw new Error('no node')
  await node.save([1, 2])
  const late = [await node.rowOf(3), await other.rowOf(4)] as const
  await node.of()
  const scope = projectScope(project)
  await node.bases.remove(scope, node.base)
  for (const n of [1, 2]) await storage.records.remove(sourceRows, scope, `src_${node.base}_${n}`)
  await node.indexes.remove({ project, tenant: null, base: node.base })
  await node.write([late[0]])
  await other.write([late[1]])
  for (const { indexes } of [node, other]) await indexes.settle({ project, tenant: null, base: node.base })
  const left = (await storage.blobs.hashes(project, '', 100)).filter((name) => name.includes('wsg_'))
  expect([await storage.records.count(knowledgeIndexes, scope), left]).toEqual([0, []])
})
