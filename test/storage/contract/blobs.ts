import { expect, it } from 'vitest'
import type { Subject } from '../contract.ts'

/** Contract of large values stored by hash. */
export const blobContract = ({ store, fresh }: Subject): void => {
  it('returns a blob within its project only', async () => {
    const hash = fresh('sha')
    await store().blobs.put('prj_1', hash, 'content é')
    await store().blobs.put('prj_1', hash, 'content é')
    expect(await store().blobs.get('prj_1', hash)).toBe('content é')
    expect(await store().blobs.get('prj_2', hash)).toBeNull()
    expect(await store().blobs.get('prj_1', fresh('sha'))).toBeNull()
  })

  it('keeps bytes as they are, and has the bytes of a text', async () => {
    const [bytes, text, large] = [fresh('sha'), fresh('sha'), fresh('sha')]
    const every = Uint8Array.from({ length: 1_000 }, (_, at) => at % 256)
    const many = new Uint8Array(9 * 1024 * 1024).fill(200)
    await store().blobs.put('prj_1', bytes, every.subarray(1))
    await store().blobs.put('prj_1', text, 'é\0')
    await store().blobs.put('prj_1', large, many)
    expect(Buffer.from((await store().blobs.bytes('prj_1', bytes)) ?? []).equals(every.subarray(1))).toBe(true)
    expect(Buffer.from((await store().blobs.bytes('prj_1', text)) ?? []).toString()).toBe('é\0')
    expect(Buffer.from((await store().blobs.bytes('prj_1', large)) ?? []).equals(many)).toBe(true)
    expect(await store().blobs.bytes('prj_2', bytes)).toBeNull()
  })

  it('lists the hashes of one project, each once, for any page size', async () => {
    const [project, other] = [fresh('prj'), fresh('prj')]
    const hashes = Array.from({ length: 7 }, () => fresh('sha'))
    for (const hash of hashes.toReversed()) await store().blobs.put(project, hash, 'x')
    await store().blobs.put(project, hashes[0] ?? '', 'x')
    await store().blobs.put(other, fresh('sha'), 'x')
    await store().blobs.put(`${project}0`, fresh('sha'), 'x')
    for (const limit of [1, 3, 7, 100]) {
      const seen: string[] = []
      for (;;) {
        const page = await store().blobs.hashes(project, seen.at(-1) ?? null, limit)
        expect(page.length).toBeLessThanOrEqual(limit)
        if (page.length === 0) break
        seen.push(...page)
      }
      expect(seen).toEqual(hashes)
    }
    expect(await store().blobs.hashes(project, null, 0)).toEqual([])
  })

  it('lists a blob of many parts once', async () => {
    const [project, hash] = [fresh('prj'), fresh('sha')]
    await store().blobs.put(project, hash, 'a'.repeat(17 * 1024 * 1024))
    expect(await store().blobs.hashes(project, null, 10)).toEqual([hash])
    expect(await store().blobs.hashes(project, hash, 10)).toEqual([])
  })

  it('keeps an empty blob and one of many megabytes', async () => {
    const [empty, large] = [fresh('sha'), fresh('sha')]
    const content = 'aé€'.repeat(4_000_000)
    await Promise.all([store().blobs.put('prj_1', empty, ''), store().blobs.put('prj_1', large, content)])
    expect(await store().blobs.get('prj_1', empty)).toBe('')
    expect((await store().blobs.get('prj_1', large)) === content).toBe(true)
  })

  it('keeps characters of code 0 and what follows them', async () => {
    const hash = fresh('sha')
    await store().blobs.put('prj_1', hash, '\0 a\0b \ufeffé\0')
    expect(await store().blobs.get('prj_1', hash)).toBe('\0 a\0b \ufeffé\0')
  })
}
