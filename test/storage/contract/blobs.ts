import { expect, it } from 'vitest'
import type { Subject } from '../contract.ts'

/** Large values by hash. */
export const blobContract = ({ store, fresh }: Subject): void => {
  it('gives back a blob within its project only', async () => {
    const hash = fresh('sha')
    await store().blobs.put('prj_1', hash, 'content é')
    await store().blobs.put('prj_1', hash, 'content é')
    expect(await store().blobs.get('prj_1', hash)).toBe('content é')
    expect(await store().blobs.get('prj_2', hash)).toBeNull()
    expect(await store().blobs.get('prj_1', fresh('sha'))).toBeNull()
  })

  it('keeps an empty blob and one of many megabytes', async () => {
    const [empty, large] = [fresh('sha'), fresh('sha')]
    const content = 'aé€'.repeat(4_000_000)
    await Promise.all([store().blobs.put('prj_1', empty, ''), store().blobs.put('prj_1', large, content)])
    expect(await store().blobs.get('prj_1', empty)).toBe('')
    expect((await store().blobs.get('prj_1', large)) === content).toBe(true)
  })
}
