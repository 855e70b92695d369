import { expect, it } from 'vitest'
import type { LanceVectors } from '#storage/lance/lance-vectors.ts'

export const dimensions = 32
export const space = 'base model'
export const project = 'prj_many'

/** Directions that are the same in every run. */
export const directions = (count: number, from = 1): readonly Int8Array[] => {
  let state = from
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * 255)
  }
  return Array.from({ length: count }, () => Int8Array.from({ length: dimensions }, () => next() - 127))
}

export const put = (vectors: LanceVectors, blob: string, numbers: readonly Int8Array[], group = blob) =>
  vectors.put({
    ...{ project, space, blob, group },
    vectors: numbers.map((each, n) => ({ id: `${blob} ${n}`, numbers: each })),
  })

/** What holds for processes that use the same tables. @param another opens them as a process does. */
export const sharedTables = (another: () => Promise<LanceVectors>): void => {
  it('is seen by every process that opens the folder', async () => {
    const [one, other] = await Promise.all([another(), another()])
    await put(one, 'first', directions(10))
    expect(await other.count(project, 'first')).toBe(10)
    await put(other, 'second', directions(5, 2))
    await expect.poll(async () => (await one.space(project, space)).counts.get('second')).toBe(5)
    await other.removeBlobs(project, 'first')
    await other.removeBlobs(project, 'second')
    await expect.poll(async () => (await one.space(project, space)).counts.size).toBe(0)
    await Promise.all([one.close(), other.close()])
  })

  it('is removed by a process that has not seen yet what another stored', async () => {
    const [one, other] = await Promise.all([another(), another()])
    await put(one, 'early', directions(5))
    expect(await other.count(project, 'early')).toBe(5)
    await put(one, 'late', directions(5))
    await other.removeBlobs(project, 'late')
    await other.removeBlobs(project, 'early')
    const reader = await another()
    expect(await reader.count(project, 'late')).toBe(0)
    await Promise.all([one.close(), other.close(), reader.close()])
  })

  it('puts the vectors of many blobs at the same time, each once', async () => {
    const [one, other] = await Promise.all([another(), another()])
    const blobs = Array.from({ length: 12 }, (_, n) => `blob ${n}`)
    await Promise.all(blobs.flatMap((blob, n) => [one, other].map((each) => put(each, blob, directions(20, n + 1)))))
    for (const each of [one, other]) {
      await expect
        .poll(async () => [...(await each.space(project, space)).counts.values()])
        .toEqual(blobs.map(() => 20))
    }
    for (const blob of blobs) await one.removeBlobs(project, blob)
    await Promise.all([one.close(), other.close()])
  })
}
