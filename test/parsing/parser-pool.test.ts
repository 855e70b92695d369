import { afterEach, describe, expect, it } from 'vitest'
import { speechOf } from '#gateway/simulated/speech.ts'
import type { documentTasks } from '#src/parsing/documents/document-tasks.ts'
import { ParserFailed, type ParserLimits, ParserPool } from '#src/parsing/parser-pool.ts'
import { expectWithin } from '#test/support/expect-within.ts'

const parsers: ParserPool[] = []
const open = (limits: Partial<ParserLimits> = {}): ParserPool => {
  const parser = new ParserPool(limits)
  parsers.push(parser)
  return parser
}
afterEach(() => Promise.all(parsers.splice(0).map((parser) => parser.close())))

/** 1 MB of these bytes kept music-metadata busy for 20 seconds. */
const hostile = { bytes: Buffer.alloc(1024 * 1024, 0xff), mimeType: 'audio/mpeg' }
const sound = { bytes: speechOf('Hello wonderful world', 'wav', 1)?.audio ?? Buffer.alloc(0), mimeType: 'audio/wav' }

/** Counts the turns of the event loop until it is over. */
const turnsUntil = async (isOver: () => boolean): Promise<number> => {
  let turns = 0
  for (; !isOver(); turns++) await new Promise((resolve) => setImmediate(resolve))
  return turns
}

describe('a parser of untrusted bytes', () => {
  it('reads valid input', async () => {
    expect(await open().parse('audio_seconds', sound)).toBeGreaterThan(0)
  })

  it('leaves the event loop free and ends at its deadline', async () => {
    const parser = open({ deadlineMs: 500 })
    await parser.parse('audio_seconds', sound)
    let ended = false
    const started = performance.now()
    const late = parser.parse('audio_seconds', hostile).finally(() => {
      ended = true
    })
    const counted = turnsUntil(() => ended)
    await expect(late).rejects.toMatchObject({ name: 'ParserFailed', reason: 'deadline' })
    const took = performance.now() - started
    // a turn takes microseconds: this many need little of a processor, and none runs while a parser is read here
    expect(await counted).toBeGreaterThan(100)
    await expectWithin(5_000, took, () => parser.parse('audio_seconds', sound))
  })

  it('fails with the reason memory when it exceeds the heap of its worker', async () => {
    const parser = open({ maxHeapMb: 4 })
    const failed = await parser.parse('audio_seconds', sound).then(
      () => null,
      (error: unknown) => error,
    )
    expect(failed).toMatchObject({ name: 'ParserFailed', reason: 'memory' })
  })

  it('refuses requests beyond the queue limit, and completes the queued ones', async () => {
    const parser = open({ maxWaiting: 1 })
    const first = parser.parse('audio_seconds', sound)
    const second = parser.parse('audio_seconds', sound)
    await expect(parser.parse('audio_seconds', sound)).rejects.toMatchObject({ reason: 'busy' })
    expect(await Promise.all([first, second])).toEqual([expect.any(Number), expect.any(Number)])
  })

  describe('while one is slow', () => {
    const own = (limits: Partial<ParserLimits> = {}) =>
      new ParserPool<typeof documentTasks>(
        { slowMs: 100, deadlineMs: 3_000, ...limits },
        new URL('./slow-worker.ts', import.meta.url),
      )
    const read = (parser: ParserPool<typeof documentTasks>, text: string, tenant: string) =>
      parser.parse(
        'document',
        { bytes: Buffer.from(text), mimeType: 'text/plain' },
        { owner: { project: 'prj_a', tenant } },
      )

    it('reads those of other owners in a second worker, and those of its owner after it', {
      timeout: 30_000,
    }, async () => {
      const parser = own()
      await read(parser, '1', 'ten_1')
      const ended: string[] = []
      const note = (name: string) => () => void ended.push(name)
      const slow = read(parser, '1500', 'ten_1').then(note('slow'))
      const next = read(parser, '2', 'ten_1').then(note('next of its owner'))
      const others = [3, 4, 5].map((n) => read(parser, `${n}`, `ten_${n}`).then(note('other')))
      await Promise.all([slow, next, ...others])
      expect(ended).toEqual(['other', 'other', 'other', 'slow', 'next of its owner'])
      await parser.close()
    })

    it('is given its deadline anew while the process has no work for a processor, at most five times', async () => {
      const parser = own({ deadlineMs: 300 })
      await read(parser, '1', 'ten_1')
      expect(await read(parser, '800', 'ten_1')).toMatchObject({ text: '800' })
      await expect(read(parser, '60000', 'ten_1')).rejects.toMatchObject({ reason: 'deadline' })
      await parser.close()
    })

    it('is given its deadline once where it only waits', async () => {
      const parser = own({ deadlineMs: 1_000 })
      await read(parser, '1', 'ten_1')
      const began = performance.now()
      await expect(read(parser, 'wait', 'ten_1')).rejects.toMatchObject({ reason: 'deadline' })
      expect(performance.now() - began).toBeLessThan(4_000)
      await parser.close()
    })

    it('reads no more than two at once', { timeout: 30_000 }, async () => {
      const parser = own()
      const began = performance.now()
      const all = [1, 2, 3].map((n) => read(parser, '1200', `ten_${n}`))
      await Promise.all(all)
      expect(performance.now() - began).toBeGreaterThan(2_300)
      await parser.close()
    })

    it('blames the document that makes the process grow, and no other one', { timeout: 60_000 }, async () => {
      const parser = own({ deadlineMs: 30_000, maxGrowthMb: 150 })
      await read(parser, '1', 'ten_0')
      const slow = read(parser, '1000', 'ten_1')
      const grows = read(parser, 'grow', 'ten_2')
      await expect(grows).rejects.toMatchObject({ reason: 'memory' })
      expect(await slow).toMatchObject({ text: '1000' })
      expect(await read(parser, '5', 'ten_3')).toMatchObject({ text: '5' })
      await parser.close()
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
