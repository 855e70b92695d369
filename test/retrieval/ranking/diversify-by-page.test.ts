import { describe, expect, it } from 'vitest'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { found, passage, question } from '../passages.ts'

const text = 'The otter sleeps in the reeds by the river.'

/** Passages that differ only in length; the first one of each page is the shortest. */
const indexOf = (pages: readonly (number | null)[]): PassageIndex => {
  const index = new PassageIndex('document')
  for (const [order, page] of pages.entries())
    index.add(passage(text + ' It is so.'.repeat(order), { id: `${order}`, group: 'book', order, page }))
  return index
}

describe('passages of one page', () => {
  const wanted = question('Where does the otter sleep?', { limit: 3 })

  it('rank below the best one of another page with a similar score', async () => {
    expect(await found(indexOf([1, 1, 2]), wanted)).toEqual(['0', '2', '1'])
    expect(await found(indexOf([1, 1, 1, 1, 2, 3]), wanted)).toEqual(['0', '4', '5'])
  })

  it('are not combined across sources or without page numbers', async () => {
    expect(await found(indexOf([null, null, null, null, null]), wanted)).toEqual(['0', '1', '2'])
    const scoresOf = async (page: number) => {
      const index = indexOf([1, 2])
      index.add(passage(`${text} It is so.`, { id: 'other', group: 'other book', order: 0, page }))
      return (await index.search(wanted)).hits.map(({ id, score }) => [id, score])
    }
    expect(await scoresOf(1)).toEqual(await scoresOf(7))
  })

  it('of a short source without pages rank below the best one of another source with a similar score', async () => {
    const index = indexOf([null, null])
    index.add(passage(`${text} It is so. It is so.`, { id: 'other', group: 'other book', order: 0 }))
    expect(await found(index, wanted)).toEqual(['0', 'other', '1'])
  })

  it('have descending scores in the order of the hits', async () => {
    const { hits } = await indexOf([1, 1, 2, 2]).search({ ...wanted, limit: 4 })
    const scores = hits.map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(hits).toHaveLength(4)
  })
})
