import { performance } from 'node:perf_hooks'
import { afterEach, describe, expect, it } from 'vitest'
import { speechOf } from '#gateway/simulated/speech.ts'
import type { documentTasks } from '#src/parsing/documents/document-tasks.ts'
import { ParserFailed, type ParserLimits, ParserPool } from '#src/parsing/parser-pool.ts'

const rooms: ParserPool[] = []
const open = (limits: Partial<ParserLimits> = {}): ParserPool => {
  const room = new ParserPool(limits)
  rooms.push(room)
  return room
}
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())))

/** 1 MB of these bytes kept music-metadata busy for 20 seconds. */
const hostile = { bytes: Buffer.alloc(1024 * 1024, 0xff), mimeType: 'audio/mpeg' }
const sound = { bytes: speechOf('Hello wonderful world', 'wav', 1)?.audio ?? Buffer.alloc(0), mimeType: 'audio/wav' }

describe('a parser of untrusted bytes', () => {
  it('reads valid input', async () => {
    expect(await open().parse('audio_seconds', sound)).toBeGreaterThan(0)
  })

  it('leaves the event loop free and ends at its deadline', async () => {
    const room = open({ deadlineMs: 500 })
    await room.parse('audio_seconds', sound)
    const before = performance.eventLoopUtilization()
    const started = performance.now()
    await expect(room.parse('audio_seconds', hostile)).rejects.toMatchObject({ name: 'ParserFailed' })
    expect(performance.eventLoopUtilization(before).active).toBeLessThan(250)
    expect(performance.now() - started).toBeLessThan(5000)
    expect(await room.parse('audio_seconds', sound)).toBeGreaterThan(0)
  })

  it('fails with the reason memory when it exceeds the heap of its worker', async () => {
    const room = open({ maxHeapMb: 4 })
    const failed = await room.parse('audio_seconds', sound).then(
      () => null,
      (error: unknown) => error,
    )
    expect(failed).toMatchObject({ name: 'ParserFailed', reason: 'memory' })
  })

  it('refuses requests beyond the queue limit, and completes the queued ones', async () => {
    const room = open({ maxWaiting: 1 })
    const first = room.parse('audio_seconds', sound)
    const second = room.parse('audio_seconds', sound)
    await expect(room.parse('audio_seconds', sound)).rejects.toMatchObject({ reason: 'busy' })
    expect(await Promise.all([first, second])).toEqual([expect.any(Number), expect.any(Number)])
  })

  describe('while one is slow', () => {
    const own = (limits: Partial<ParserLimits> = {}) =>
      new ParserPool<typeof documentTasks>(
        { slowMs: 100, deadlineMs: 3_000, ...limits },
        new URL('./slow-worker.ts', import.meta.url),
      )
    const read = (room: ParserPool<typeof documentTasks>, text: string, tenant: string) =>
      room.parse(
        'document',
        { bytes: Buffer.from(text), mimeType: 'text/plain' },
        { owner: { project: 'prj_a', tenant } },
      )

    it('reads those of other owners in a second worker, and those of its owner after it', {
      timeout: 30_000,
    }, async () => {
      const room = own()
      await read(room, '1', 'ten_1')
      const ended: string[] = []
      const note = (name: string) => () => void ended.push(name)
      const slow = read(room, '1500', 'ten_1').then(note('slow'))
      const next = read(room, '2', 'ten_1').then(note('next of its owner'))
      const others = [3, 4, 5].map((n) => read(room, `${n}`, `ten_${n}`).then(note('other')))
      await Promise.all([slow, next, ...others])
      expect(ended).toEqual(['other', 'other', 'other', 'slow', 'next of its owner'])
      await room.close()
    })

    it('reads no more than two at once', { timeout: 30_000 }, async () => {
      const room = own()
      const began = performance.now()
      const all = [1, 2, 3].map((n) => read(room, '1200', `ten_${n}`))
      await Promise.all(all)
      expect(performance.now() - began).toBeGreaterThan(2_300)
      await room.close()
    })

    it('blames the document that makes the process grow, and no other one', { timeout: 60_000 }, async () => {
      const room = own({ deadlineMs: 10_000, maxGrowthMb: 150 })
      await read(room, '1', 'ten_0')
      const slow = read(room, '1000', 'ten_1')
      const grows = read(room, 'grow', 'ten_2')
      await expect(grows).rejects.toMatchObject({ reason: 'memory' })
      expect(await slow).toMatchObject({ text: '1000' })
      expect(await read(room, '5', 'ten_3')).toMatchObject({ text: '5' })
      await room.close()
    })
  })

  it('reads the document of another owner after the one in progress, however many wait, and refuses only their owner', async () => {
    const slow = new ParserPool<typeof documentTasks>({ maxWaiting: 80 }, new URL('./slow-worker.ts', import.meta.url))
    const read: string[] = []
    const failures: unknown[] = []
    const begin = async (name: string, project: string, tenant: string | null) => {
      const document = { bytes: Buffer.from('20'), mimeType: 'text/plain' }
      await slow.parse('document', document, { owner: { project, tenant } }).then(
        () => read.push(name),
        (error: unknown) => failures.push(error),
      )
    }
    const many = Array.from({ length: 40 }, () => begin('many', 'prj_a', 'ten_1'))
    const others = [begin('other tenant', 'prj_a', 'ten_2'), begin('other project', 'prj_b', null)]
    await Promise.all(others)
    expect(read.slice(0, 3)).toEqual(['many', 'other project', 'other tenant'])
    await slow.close()
    await Promise.all(many)
    // the one in progress, and a quarter of the places
    expect(failures.filter((error) => error instanceof ParserFailed && error.reason === 'busy')).toHaveLength(40 - 21)
  })
})
