import { expect, it } from 'vitest'
import { KnownBlobs } from '#runtime/blobs/known-blobs.ts'

/** A blob store that records every put, and fails the first `fails` of them. */
const counting = (fails = 0) => {
  const stored: string[] = []
  const put = async (_project: string, hash: string): Promise<void> => {
    stored.push(hash)
    if (stored.length <= fails) throw new Error('away')
  }
  return { stored, known: new KnownBlobs({ put }) }
}

it('stores a blob once per project, however often it is put', async () => {
  const { stored, known } = counting()
  await Promise.all([known.put('prj_1', 'a', 'x'), known.put('prj_1', 'a', 'x')])
  await known.put('prj_1', 'a', 'x')
  expect(stored).toEqual(['a'])
  await known.put('prj_2', 'a', 'x')
  expect(stored).toEqual(['a', 'a'])
})

it('stores a blob again after a failure', async () => {
  const { stored, known } = counting(1)
  await expect(known.put('prj_1', 'a', 'x')).rejects.toThrow('away')
  await known.put('prj_1', 'a', 'x')
  expect(stored).toEqual(['a', 'a'])
})

it('remembers 10,000 blobs, and stores the oldest again after that', async () => {
  const { stored, known } = counting()
  for (let count = 0; count <= 10_000; count++) await known.put('prj_1', `blob_${count}`, 'x')
  await known.put('prj_1', 'blob_10000', 'x')
  expect(stored).toHaveLength(10_001)
  await known.put('prj_1', 'blob_0', 'x')
  expect(stored).toHaveLength(10_002)
})
