import fc from 'fast-check'
import { expect, it } from 'vitest'
import { extractBlobs, restoreBlobs, type Taken } from '#runtime/blobs/blob-fields.ts'
import { Unrestorable } from '#runtime/step/actor-state.ts'
import type { Json } from '#storage/ports.ts'
import { deepFrozen } from '#test/support/deep-frozen.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const max = 8
const keeping = { maxLength: max, levels: 1 }

/** Any JSON, with long strings and with `$blob` keys and made-up references in unfortunate places. */
const anyJson: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(null, true, 0, '', 'short', 'longer than eight', 'longer than eight too'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', '$blob', 'value', '__proto__'), tie('json'), { maxKeys: 3 }),
    fc.constantFrom({ $blob: 'feed' }, { $blob: null, value: 'x' }, { $blob: null, value: { $blob: null } }),
  ),
})).json

const store = async (value: Json) => {
  const { blobs } = openMemoryStorage()
  const taken: Taken[] = []
  const small = extractBlobs(value, keeping, { taken })
  for (const { hash, content } of taken) await blobs.put('prj_1', hash, content)
  return { small, blobs }
}

const longest = (value: Json | undefined): number => {
  if (typeof value === 'string') return /^[0-9a-f]{64}$/.test(value) ? 0 : value.length
  if (typeof value !== 'object' || value === null) return 0
  return Math.max(0, ...Object.values(value).map(longest))
}

it('restores every document unchanged, whatever a user wrote in it', async () => {
  await fc.assert(
    fc.asyncProperty(anyJson, async (value) => {
      const { small, blobs } = await store(deepFrozen(value))
      const through: Json = JSON.parse(JSON.stringify(small))
      expect(await restoreBlobs(through, blobs, 'prj_1')).toEqual(value)
    }),
    { numRuns: 500 },
  )
})

it('leaves no string longer than the limit in the document', async () => {
  await fc.assert(
    fc.asyncProperty(anyJson, async (value) => {
      expect(longest((await store(value)).small)).toBeLessThanOrEqual(max)
    }),
  )
})

it('moves a whole object or list into a blob when its JSON is long, however short its parts are', async () => {
  const list = Array.from({ length: 100 }, (_, index) => ({ n: index, $blob: null }))
  const taken: Taken[] = []
  const small = extractBlobs({ list, short: 1 }, { maxLength: 100, levels: 1 }, { taken })
  expect(small).toEqual({ list: { $blob: taken[0]?.hash, json: true }, short: 1 })
  const { blobs } = openMemoryStorage()
  for (const { hash, content } of taken) await blobs.put('prj_1', hash, content)
  expect(await restoreBlobs(small, blobs, 'prj_1')).toEqual({ list, short: 1 })
})

it('does not copy a document without long values', async () => {
  const value = { a: ['short', { b: 1 }], c: null }
  const taken: Taken[] = []
  expect(extractBlobs(value, { maxLength: 100, levels: 0 }, { taken })).toBe(value)
  expect(taken).toEqual([])
  expect(await restoreBlobs(value, openMemoryStorage().blobs, 'prj_1')).toBe(value)
})

it('does not let a reference written by a user read a blob', async () => {
  const { blobs } = await store('somebody else wrote this')
  const stolen = { $blob: extractBlobs('somebody else wrote this', keeping, { taken: [] }) }
  const { small } = await store(stolen)
  const back = await restoreBlobs(JSON.parse(JSON.stringify(small)), blobs, 'prj_1').catch((error: unknown) => error)
  expect(JSON.stringify(back)).not.toContain('somebody else')
})

it('reads blobs of its own project only', async () => {
  const { small, blobs } = await store('longer than eight')
  await expect(restoreBlobs(small, blobs, 'prj_2')).rejects.toThrow(Unrestorable)
})

it('writes only well-formed text to the store: a lone surrogate becomes its escape', async () => {
  const value = { text: 'half of a pair: \ud83d', whole: 'all of a pair: \u{1f600}' }
  const taken: Taken[] = []
  const small = extractBlobs(value, keeping, { taken })
  expect(taken.map(({ content }) => content.isWellFormed())).toEqual([true, true])
  const { blobs } = openMemoryStorage()
  for (const { hash, content } of taken) await blobs.put('prj_1', hash, content)
  expect(await restoreBlobs(small, blobs, 'prj_1')).toEqual(value)
})
