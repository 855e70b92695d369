import { beforeAll, describe, expect, it } from 'vitest'
import type { Storage } from '#storage/ports.ts'
import type { StoredVector, VectorStore } from '#storage/search/vector-port.ts'

const vectorOf = (...numbers: number[]): StoredVector['numbers'] => Int8Array.from(numbers)

/** The rules that every store of vectors follows, whatever searches them. @param open opens a store that has vectors. */
export const vectorsContract = (open: () => Promise<Pick<Storage, 'vectors' | 'blobs'>>): void => {
  describe('vectors', () => {
    let storage: Pick<Storage, 'vectors' | 'blobs'>
    beforeAll(async () => {
      storage = await open()
    })

    const vectors = (): VectorStore => {
      if (storage.vectors === null) throw new Error('no vectors')
      return storage.vectors
    }
    const put = (
      project: string,
      blob: string,
      found: Readonly<Record<string, StoredVector['numbers']>>,
      group = 'g',
    ) =>
      vectors().put({
        ...{ project, blob, space: 'base model', group },
        vectors: Object.entries(found).map(([id, numbers]) => ({ id, numbers })),
      })
    const nearest = async (project: string, vector: readonly number[], more: object = {}) => {
      const query = { project, space: 'base model', groups: null, vector: Float32Array.from(vector), limit: 2, ...more }
      return (await vectors().nearest(query)).map(({ id }) => id)
    }

    it('are found by their direction, nearest first, within their project, space and groups', async () => {
      await put('prj_near', 'own.vec.1', { north: vectorOf(0, 100), east: vectorOf(3, 0) }, 'one')
      await put('prj_near', 'own.vec.2', { northeast: vectorOf(50, 50), south: vectorOf(0, -90) }, 'two')
      await put('prj_other', 'own.vec.3', { foreign: vectorOf(0, 100) })
      expect(await nearest('prj_near', [0.001, 0.9])).toEqual(['north', 'northeast'])
      expect(await nearest('prj_near', [0, 0.9], { groups: ['two'] })).toEqual(['northeast', 'south'])
      expect(await nearest('prj_near', [0, 0.9], { space: 'base other-model' })).toEqual([])
      expect(await nearest('prj_other', [0, 0.9])).toEqual(['foreign'])
      const [found] = await vectors().get('prj_near', 'base model', ['south', 'foreign'])
      expect(found).toEqual({ id: 'south', numbers: vectorOf(0, -90) })
    })

    it('are stored once however often they are put, and counted by blob and by group', async () => {
      for (let times = 0; times < 2; times++) {
        await Promise.all([
          put('prj_count', 'own.vec.1', { a: vectorOf(1, 2), b: vectorOf(2, 1) }, 'one'),
          put('prj_count', 'own.vec.2', { c: vectorOf(1, 2) }, 'two'),
        ])
      }
      expect(await vectors().count('prj_count', 'own.vec.1')).toBe(2)
      const { counts, dimensions } = await vectors().space('prj_count', 'base model')
      expect(Object.fromEntries(counts)).toEqual({ one: 2, two: 1 })
      expect(dimensions).toBe(2)
    })

    it('are removed with their blob, and with every blob of its owner', async () => {
      const left = async () => Object.fromEntries((await vectors().space('prj_gone', 'base model')).counts)
      for (const owner of ['ten_1.ksr_1', 'ten_1.ksr_2']) {
        for (const blob of ['vec.1', 'vec.12'])
          await put('prj_gone', `${owner}.${blob}`, { [blob]: vectorOf(1, 2) }, owner)
      }
      await storage.blobs.remove('prj_gone', 'ten_1.ksr_1.vec.12')
      expect(await left()).toEqual({ 'ten_1.ksr_1': 1, 'ten_1.ksr_2': 2 })
      await storage.blobs.remove('prj_gone', 'ten_1.ksr_1.')
      expect(await left()).toEqual({ 'ten_1.ksr_2': 2 })
    })

    it('are removed by their groups, in every project', async () => {
      for (const project of ['prj_late', 'prj_later']) {
        for (const group of ['ksr_1', 'ksr_12'])
          await put(project, `own.${group}.vec`, { [group]: vectorOf(1, 2) }, group)
      }
      await vectors().removeGroups([])
      await vectors().removeGroups(['ksr_1', 'ksr_3'])
      for (const project of ['prj_late', 'prj_later'])
        expect(Object.fromEntries((await vectors().space(project, 'base model')).counts)).toEqual({ ksr_12: 1 })
    })

    it('are removed with their project, and no others', async () => {
      for (const project of ['prj_erased', 'prj_erased2']) await put(project, 'own.vec.1', { a: vectorOf(1, 2) })
      await vectors().removeProject('prj_erased')
      await vectors().removeProject('prj_none')
      expect(await vectors().count('prj_erased', 'own.vec.1')).toBe(0)
      expect(await nearest('prj_erased', [1, 2])).toEqual([])
      expect(await nearest('prj_erased2', [1, 2])).toEqual(['a'])
      await put('prj_erased', 'own.vec.2', { b: vectorOf(1, 2) })
      expect(await nearest('prj_erased', [1, 2])).toEqual(['b'])
    })

    it('without a direction count as stored, and are not found', async () => {
      await put('prj_zero', 'own.vec.1', { none: vectorOf(0, 0), some: vectorOf(1, 0) })
      expect(await vectors().count('prj_zero', 'own.vec.1')).toBe(2)
      expect(await nearest('prj_zero', [1, 0])).toEqual(['some'])
      expect((await vectors().get('prj_zero', 'base model', ['none', 'some'])).map(({ id }) => id)).toEqual(['some'])
    })

    it('are as they were stored, from the lowest number to the highest', async () => {
      const numbers = Int8Array.from({ length: 256 }, (_, at) => at - 128)
      await put('prj_exact', 'own.vec.1', { all: numbers })
      expect(await vectors().get('prj_exact', 'base model', ['all'])).toEqual([{ id: 'all', numbers }])
      expect(
        await vectors().nearest({
          project: 'prj_exact',
          space: 'base model',
          groups: null,
          vector: Float32Array.from(numbers),
          limit: 1,
        }),
      ).toEqual([{ id: 'all', numbers }])
    })

    it('have names of any characters', async () => {
      const [id, group] = [`it's "one" \\ %_\n`, `'; or true --`]
      await put('prj_name', 'own.vec.1', { [id]: vectorOf(1, 0) }, group)
      await put('prj_name', 'own.vec.2', { other: vectorOf(1, 0) })
      expect(await nearest('prj_name', [1, 0], { groups: [group] })).toEqual([id])
      expect((await vectors().get('prj_name', 'base model', [id])).map((found) => found.id)).toEqual([id])
      await vectors().removeGroups([group])
      expect(await nearest('prj_name', [1, 0])).toEqual(['other'])
    })
  })
}
