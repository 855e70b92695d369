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
