import { expect, it } from 'vitest'
import { KnownBlobs } from '#runtime/blobs/known-blobs.ts'

/** Blobs that count what they are given; the first `fails` times in vain. */
const counting = (fails = 0) => {
  const stored: string[] = []
  const put = async (_project: string, hash: string): Promise<void> => {
    stored.push(hash)
    if (stored.length <= fails) throw new Error('away')
  }
  return { stored, known: new KnownBlobs({ put }) }
}

it('stores a blob once, however often it is asked to', async () => {
  const { stored, known } = counting()
  await Promise.all([known.put('prj_1', 'a', 'x'), known.put('prj_1', 'a', 'x')])
  await known.put('prj_1', 'a', 'x')
  expect(stored).toEqual(['a'])
  await known.put('prj_2', 'a', 'x')
  expect(stored).toEqual(['a', 'a'])
})

it('stores a blob again when that failed', async () => {
  const { stored, known } = counting(1)
  await expect(known.put('prj_1', 'a', 'x')).rejects.toThrow('away')
  await known.put('prj_1', 'a', 'x')
  expect(stored).toEqual(['a', 'a'])
})

it('remembers so many blobs, and stores the first again after that', async () => {
  const { stored, known } = counting()
  for (let count = 0; count <= 10_000; count++) await known.put('prj_1', `blob_${count}`, 'x')
  await known.put('prj_1', 'blob_10000', 'x')
  expect(stored).toHaveLength(10_001)
  await known.put('prj_1', 'blob_0', 'x')
  expect(stored).toHaveLength(10_002)
})
