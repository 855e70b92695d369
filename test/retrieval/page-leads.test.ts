import { describe, expect, it } from 'vitest'
import { PageLeads } from '#retrieval/page-leads.ts'
import type { Passage } from '#retrieval/passage.ts'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { found, passage, question } from './passages.ts'

const unit = (angle: number): Float32Array => Float32Array.from([Math.cos(angle), Math.sin(angle)])
const onPage = (id: string, page: number, rest: Partial<Passage> = {}): Passage =>
  passage(id, { group: 'report', page, ...rest })

/** Ten times the cosine of each slot's page with the question `unit(0)`; null where it has none. */
const cosinesIn = (leads: PageLeads, slots: readonly number[]): readonly (number | null)[] => {
  const query = leads.query(unit(0))
  const cosines = new Float32Array(leads.extent)
  if (query !== null) leads.cosines(query, cosines)
  return slots.map((slot) => (leads.pageOf(slot) === -1 ? null : Math.round((cosines[leads.pageOf(slot)] ?? 0) * 10)))
}

describe('the lead of a page', () => {
  it('ranks all passages of its page', async () => {
    const index = new PassageIndex('document')
    index.add(onPage('assets', 1, { order: 0, vector: unit(1.2), lead: unit(1.4) }))
    index.add(onPage('rows one', 1, { order: 1, vector: unit(1.2) }))
    index.add(onPage('cash', 2, { order: 2, vector: unit(1.3), lead: unit(0.1) }))
    index.add(onPage('rows two', 2, { order: 3, vector: unit(1.21) }))
    const query = question('what?', { vector: unit(0), embedder: 'local/one', limit: 4 })
    expect((await found(index, query)).slice(0, 2).toSorted()).toEqual(['cash', 'rows two'])
  })

  it('changes nothing for passages without pages, or whose page has no vector', async () => {
    const index = new PassageIndex('document')
    index.add(passage('one', { group: 'a', vector: unit(0.5) }))
    index.add(onPage('two', 1, { vector: unit(0.7) }))
    index.add(onPage('three', 2, { order: 1, vector: unit(1.5), lead: unit(0) }))
    const { hits } = await index.search(question('one two three', { vector: unit(0), explain: true }))
    const raised = hits.filter(({ parts }) => parts?.page !== parts?.vector).map(({ id }) => id)
    expect([hits.length, raised]).toEqual([3, ['three']])
  })

  it('is shown in the parts of a score', async () => {
    const index = new PassageIndex('document')
    index.add(onPage('one', 1, { vector: unit(1), lead: unit(0) }))
    const { hits } = await index.search(question('one', { vector: unit(0), explain: true }))
    const { vector = 0, page = 0 } = hits[0]?.parts ?? {}
    expect(page).toBeGreaterThan(vector)
  })
})

describe('vectors of the leads of pages', () => {
  it('disappear with the passage that gave them, not with others of the page', () => {
    const leads = new PageLeads()
    leads.add(0, onPage('a', 1, { lead: unit(0) }))
    leads.add(1, onPage('b', 1))
    leads.add(2, onPage('c', 2, { lead: unit(Math.PI) }))
    expect(cosinesIn(leads, [0, 1, 2])).toEqual([10, 10, -10])
    leads.remove(1)
    expect(cosinesIn(leads, [0, 1, 2])).toEqual([10, null, -10])
    leads.add(1, onPage('b', 1))
    leads.remove(0)
    expect(cosinesIn(leads, [0, 1, 2])).toEqual([null, null, -10])
  })

  it('are replaced by those of a new first passage', () => {
    const leads = new PageLeads()
    leads.add(0, onPage('a', 1, { lead: unit(0) }))
    leads.add(1, onPage('b', 1, { lead: unit(Math.PI) }))
    leads.remove(0)
    expect(cosinesIn(leads, [1])).toEqual([-10])
  })

  it('are not shared between documents, nor with a page that is removed', () => {
    const leads = new PageLeads()
    leads.add(0, onPage('a', 1, { lead: unit(0) }))
    leads.add(1, onPage('b', 1, { group: 'other' }))
    expect(cosinesIn(leads, [0, 1])).toEqual([10, null])
    leads.remove(0)
    leads.add(0, onPage('c', 7))
    expect(cosinesIn(leads, [0, 1])).toEqual([null, null])
    expect(leads.extent).toBe(2)
  })
})
