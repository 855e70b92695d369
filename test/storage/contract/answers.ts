import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type AnswerPlace, type AnswerStore, answerOverhead } from '#storage/answer-store.ts'

/** Bytes of the stores that are tested. */
export const testedBytes = 256 * 1024

/** Views of one store, one per process that shares it. */
export interface AnswersSubject {
  readonly views: readonly AnswerStore[]
  /** Lets 100 ms pass; omitted if time passes by itself. */
  readonly tick?: () => void
  readonly close: () => Promise<void>
}

const ttlMs = 60_000

/** Contract of `AnswerStore`. Each test uses its own projects. */
export const answersContract = (name: string, open: () => Promise<AnswersSubject>): void => {
  describe(`${name} answers`, () => {
    let subject: AnswersSubject
    let made = 0
    const project = (): string => `prj_${++made}`
    const view = (n = 0): AnswerStore => {
      const found = subject.views[n % subject.views.length]
      if (found === undefined) throw new Error('no view')
      return found
    }
    const markOf = async (place: AnswerPlace): Promise<number> => (await view().read(place, []))?.mark ?? -1
    const put = async (place: AnswerPlace, key: string, text: string) =>
      view(1).put(place, key, { text, ttlMs, mark: await markOf(place) })
    const read = async (place: AnswerPlace, ...keys: string[]) => (await view().read(place, keys))?.values
    beforeAll(async () => {
      subject = await open()
    })
    afterAll(() => subject?.close())

    it('are read by every process, each by its key in its lane of its project', async () => {
      const own = { project: project(), lane: 'ten_a|' }
      await put(own, 'one', 'first ✓')
      await put(own, 'two', 'second')
      await put(own, 'one', 'newer ✓')
      expect(await read(own, 'two', 'none', 'one')).toEqual(['second', null, 'newer ✓'])
      for (const other of [
        { ...own, lane: 'ten_b|' },
        { ...own, lane: '|' },
        { ...own, project: project() },
      ])
        expect(await read(other, 'one')).toEqual([null])
    })

    it('expire', async () => {
      const own = { project: project(), lane: '|' }
      await view().put(own, 'short', { text: 'x', ttlMs: 50, mark: await markOf(own) })
      await put(own, 'long', 'y')
      await vi.waitFor(async () => {
        subject.tick?.()
        expect(await read(own, 'short', 'long')).toEqual([null, 'y'])
      }, 30_000)
    })

    it('are forgotten by project or lane, and those that were being made are not stored afterwards', async () => {
      const id = project()
      const [first, second] = [
        { project: id, lane: 'ten_a|' },
        { project: id, lane: 'ten_b|' },
      ]
      const other = { project: project(), lane: 'ten_a|' }
      for (const place of [first, { ...first, lane: 'ten_a|user' }, second, other]) await put(place, 'key', 'text')
      const before = await markOf(first)
      await view(1).forget(id, 'ten_a|')
      expect(await read(first, 'key')).toEqual([null])
      expect(await read({ ...first, lane: 'ten_a|user' }, 'key')).toEqual([null])
      expect(await read(second, 'key')).toEqual(['text'])
      await view().put(first, 'key', { text: 'late', ttlMs, mark: before })
      expect(await read(first, 'key')).toEqual([null])
      await put(first, 'key', 'new')
      expect(await read(first, 'key')).toEqual(['new'])
      await view().forget(id)
      expect([await read(first, 'key'), await read(second, 'key')]).toEqual([[null], [null]])
      expect(await read(other, 'key')).toEqual(['text'])
      await view().forget(other.project)
    })

    it('of one tenant that stores ten thousand take no room from other projects and tenants', async () => {
      const small = [
        { project: project(), lane: '|' },
        { project: project(), lane: 'ten_a|' },
      ]
      const flooding = { project: small[1]?.project ?? '', lane: 'ten_flood|' }
      for (const place of small) for (const key of ['a', 'b', 'c']) await put(place, key, 'x'.repeat(1_000))
      const mark = await markOf(flooding)
      const text = 'f'.repeat(1_000)
      for (let n = 0; n < 10_000; n += 100)
        await Promise.all(
          Array.from({ length: 100 }, (_, at) => view(at).put(flooding, `key-${n + at}`, { text, ttlMs, mark })),
        )
      for (const place of small) expect(await read(place, 'a', 'b', 'c')).not.toContain(null)
      const keys = Array.from({ length: 10_000 }, (_, n) => `key-${n}`)
      const kept = (await read(flooding, ...keys))?.filter((value) => value !== null) ?? []
      expect(kept.length).toBeGreaterThan(100)
      expect(kept.length * (1_000 + answerOverhead)).toBeLessThanOrEqual(testedBytes)
      await view().forget(flooding.project)
      expect(await read(flooding, ...keys)).toEqual(keys.map(() => null))
    })

    it('that were used lately stay longest', async () => {
      const own = { project: project(), lane: '|' }
      const half = 'x'.repeat(testedBytes / 2 - 8_000)
      await put(own, 'first', half)
      await put(own, 'second', half)
      await read(own, 'first')
      await put(own, 'third', half)
      expect(await read(own, 'first', 'second', 'third')).toEqual([half, null, half])
      await view().forget(own.project)
    })
  })
}
