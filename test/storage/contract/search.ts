import { beforeAll, describe, expect, it } from 'vitest'
import type { SearchDocument, SearchIndex, SearchStore } from '#storage/search/search-port.ts'

const indexOf = (project: string, name = 'pages'): SearchIndex => ({ project, name, dimensions: 2 })

const documentOf = (id: string, words: string, more: Partial<SearchDocument> = {}): SearchDocument => ({
  ...{ id, version: 1, facets: [], time: null, content: Buffer.from(`of ${id}`) },
  passages: [{ words: words.split(' '), numbers: null }],
  ...more,
})

const allOf = { words: [], vector: null, facets: [], since: null, limit: 10 }

/** The rules that every store of candidates follows. */
export const searchContract = (open: () => Promise<SearchStore>): void => {
  describe('candidates', () => {
    let store: SearchStore
    beforeAll(async () => {
      store = await open()
    })
    let step = 0
    const note = async (index: SearchIndex, added: Record<string, Uint8Array> = {}, kept: readonly string[] = []) => {
      await store.note(index, { step, added: new Map(Object.entries(added)), kept })
      await store.merge(index)
    }
    const put = async (index: SearchIndex, documents: readonly SearchDocument[]) => {
      await store.put(index, ++step, documents)
      await note(index)
    }
    const found = async (index: SearchIndex, query: object) =>
      (await store.candidates(index, { ...allOf, ...query })).map(({ id, version }) => `${id} ${version}`).toSorted()

    it('are documents with a word of the query in their project and index, with their content', async () => {
      const [own, other] = [indexOf('prj_words'), indexOf('prj_other')]
      await put(own, [documentOf('a', 'harbour light'), documentOf('b', 'light ship'), documentOf('c', 'inland')])
      await put(other, [documentOf('foreign', 'harbour')])
      await put(indexOf('prj_words', 'others'), [documentOf('elsewhere', 'harbour')])
      expect(await found(own, { words: ['harbour', 'ship'] })).toEqual(['a 1', 'b 1'])
      expect(await found(own, { words: ['absent'] })).toEqual([])
      expect(await found(own, {})).toEqual([])
      const [a] = await store.candidates(own, { ...allOf, words: ['harbour'] })
      expect(Buffer.from(a?.content ?? []).toString()).toBe('of a')
      expect(await found(indexOf('prj_none'), { words: ['harbour'] })).toEqual([])
    })

    it('are those with the best passages, however many a document has', async () => {
      const index = indexOf('prj_best')
      const weak = Array.from({ length: 30 }, (_, n) => documentOf(`weak${n}`, `lamp ${'other '.repeat(40)}thing${n}`))
      const passages = ['lamp', 'nothing', 'else'].map((words) => ({ words: [words], numbers: null }))
      await put(index, [...weak, documentOf('strong', '', { passages })])
      expect(await found(index, { words: ['lamp'], limit: 1 })).toEqual(['strong 1'])
    })

    it('are the nearest by a vector, and the farthest', async () => {
      const index = indexOf('prj_near')
      const at = (id: string, ...numbers: number[]) =>
        documentOf(id, 'x', { passages: [{ words: ['x'], numbers: Int8Array.from(numbers) }] })
      const between = Array.from({ length: 40 }, (_, n) => at(`east${n}`, 100, n))
      await put(index, [at('north', 0, 100), ...between, at('south', 0, -100)])
      const ids = await found(index, { vector: Float32Array.of(0, 1), limit: 1 })
      expect(ids).toContain('north 1')
      expect(ids).toContain('south 1')
      expect(ids.length).toBeLessThan(30)
    })

    it('have all facets and the time of the query', async () => {
      const index = indexOf('prj_facets')
      const facets = ['host:a.example', `it's "one" \\ %_\u0000`]
      await put(index, [
        documentOf('a', 'word', { facets, time: 5 }),
        documentOf('b', 'word', { facets: ['host:a.example'], time: 9 }),
        documentOf('c', 'word'),
      ])
      const words = ['word']
      expect(await found(index, { words, facets: ['host:a.example'] })).toEqual(['a 1', 'b 1'])
      expect(await found(index, { words, facets })).toEqual(['a 1'])
      expect(await found(index, { words, facets: [`host:x'] OR true --`] })).toEqual([])
      expect(await found(index, { words, since: 6 })).toEqual(['b 1'])
    })

    it('are of the latest version of a document, and not of removed ones', async () => {
      const index = indexOf('prj_versions')
      const passages = ['old', 'gone'].map((words) => ({ words: [words], numbers: null }))
      await put(index, [documentOf('a', '', { version: 2, passages }), documentOf('b', 'kept')])
      await put(index, [documentOf('a', 'new', { version: 3 })])
      await put(index, [documentOf('a', 'older', { version: 1 }), documentOf('b', 'kept')])
      expect(await found(index, { words: ['new', 'old', 'gone', 'older', 'kept'] })).toEqual(['a 3', 'b 1'])
      expect(await found(index, { words: ['old', 'gone', 'older'] })).toEqual([])
      await store.remove(index, ['a', 'never', `'; drop`])
      expect(await found(index, { words: ['new', 'kept'] })).toEqual(['b 1'])
    })

    it('have notes beside them, which are none of them', async () => {
      const index = indexOf('prj_notes')
      expect(await store.notes(index)).toBeNull()
      await put(index, [documentOf('a', 'word')])
      expect(await store.notes(index)).toEqual({ step, names: new Set() })
      const bytes = Uint8Array.of(0, 255, 3)
      await note(index, { one: bytes, [`it's`]: bytes })
      step += 2
      await note(index, { two: bytes }, ['one'])
      expect(await store.notes(index)).toEqual({ step, names: new Set(['one', 'two']) })
      expect([...(await store.readNotes(index, ['one', 'none']))]).toEqual([['one', bytes]])
      await note(index)
      expect(await store.notes(index)).toEqual({ step, names: new Set() })
    })

    it('leave with all indexes of their project but one', async () => {
      const [own, left, other] = [indexOf('prj_gone'), indexOf('prj_gone', 'left'), indexOf('prj_gone2')]
      for (const index of [own, left, other]) await put(index, [documentOf('a', 'word')])
      await store.drop('prj_gone', left)
      expect(await store.notes(own)).toBeNull()
      for (const index of [left, other]) expect(await found(index, { words: ['word'] })).toEqual(['a 1'])
      await store.drop('prj_gone', null)
      expect(await store.notes(left)).toBeNull()
      await put(own, [documentOf('b', 'word')])
      expect(await found(own, { words: ['word'] })).toEqual(['b 1'])
    })
  })
}
