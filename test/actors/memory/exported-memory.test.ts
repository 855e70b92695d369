import { describe, expect, it } from 'vitest'
import { exportedIn, restored } from '#actors/memory/import/exported-memory.ts'
import type { MemoryData } from '#actors/memory/kinds.ts'
import { partsOf } from '#facts/parts.ts'
import { minCpuMs } from '#test/support/min-cpu-ms.ts'

const content = 'The tent has a hole in its roof. The stove stands beside the lamp.'
const [tent = '', stove = ''] = partsOf(content).map(({ text }) => text)
const end = Date.UTC(2025, 0, 1)
const superseded = [{ content: tent, valid_to: '2025-01-01T00:00:00Z', superseded_by: 'mem_old' }]

const data: MemoryData = {
  ...{ owner: 'ada', content, scope: 'user', session_id: null, namespace: null, importance: 0.5, pinned: false },
  ...{ metadata: {}, source: 'import', speaker: null, receipt: null, redacted: [], facts: [] },
  ...{ observed_at_ms: 0, valid_from_ms: null, valid_to_ms: null, superseded_by: null },
  ...{ embedder: null, vector: null, used_at_ms: null, versions: [] },
}

describe('what an export says of a memory', () => {
  it('is the place of each superseded part, and who superseded it', () => {
    expect(exportedIn({ id: 'mem_1', superseded, superseded_by: null }, content)).toEqual({
      ...{ id: 'mem_1', supersededBy: null, parts: [{ place: 0, end, by: 'mem_old' }] },
    })
  })

  it.each([
    ['a part that the content does not have', [{ ...superseded[0], content: 'The boat leaks' }]],
    ['a part without an end', [{ content: tent, superseded_by: 'mem_old' }]],
    ['an end that is no time', [{ ...superseded[0], valid_to: 'soon' }]],
    ['an id that is too long', [{ ...superseded[0], superseded_by: 'x'.repeat(65) }]],
    ['no object', ['part', null, 1]],
    ['no list', 'all'],
    ['a part that is no text', [{ ...superseded[0], content: { toString: 1 } }]],
  ])('leaves out %s', (_, parts) => {
    expect(exportedIn({ superseded: parts }, content).parts).toEqual([])
  })

  it('is restored with the new ids, also when a redaction has changed the content', () => {
    const ids = new Map([['mem_old', 'mem_new']])
    const exported = exportedIn({ superseded }, content)
    const changed = { ...data, content: content.replace('tent', 'xxxx') }
    expect(restored(changed, exported, ids).superseded).toEqual([
      { text: tent.replace('tent', 'xxxx'), valid_to_ms: end, by: 'mem_new' },
    ])
  })

  it('ends the facts that a superseded part states, and no others', () => {
    const fact = (object: string) => ({
      ...{ subject: 'user', relation: 'has', object, single: false, ended: false },
      ...{ valid_from_ms: 0, valid_to_ms: null, observed_at_ms: 0, text: content },
    })
    const facts = [fact('tent'), fact('stove')]
    const { facts: ends } = restored({ ...data, facts }, exportedIn({ superseded }, content), new Map())
    expect([stove !== '', ...ends.map(({ valid_to_ms }) => valid_to_ms)]).toEqual([true, end, null])
  })

  it('says which memory replaced it only if that one was imported too and it has ended', () => {
    const exported = exportedIn({ superseded_by: 'mem_old' }, content)
    const ids = new Map([['mem_old', 'mem_new']])
    const ended = { ...data, valid_to_ms: end }
    expect([
      restored(ended, exported, ids).superseded_by,
      restored(ended, exported, new Map()).superseded_by,
      restored(data, exported, ids).superseded_by,
    ]).toEqual(['mem_new', null, null])
  })

  it('is read and restored in little time, however many parts and facts a hostile one has', () => {
    const long = Array.from({ length: 5_000 }, (_, at) => `ab${at}.`).join(' ')
    const gone = partsOf(long).map(({ text }) => ({ ...superseded[0], content: text }))
    const absent = gone.map((part) => ({ ...part, content: 'no part' }))
    const fact = { ...{ subject: 'user', relation: 'has', single: false, ended: false }, observed_at_ms: 0, text: long }
    const facts = Array.from({ length: 232 }, (_, at) => ({
      ...{ ...fact, object: `thing ${at}`, valid_from_ms: 0, valid_to_ms: null },
    }))
    const ms = minCpuMs(() => {
      expect(exportedIn({ superseded: absent }, long).parts).toEqual([])
      restored({ ...data, content: long, facts }, exportedIn({ superseded: gone }, long), new Map())
    })
    expect(gone.length).toBeGreaterThan(4_000)
    expect(ms).toBeLessThan(150)
  })
})
