import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentKey } from '#actors/memory/indexes/content-key.ts'
import { UserMemoryIndex } from '#actors/memory/indexes/user-memory-index.ts'
import type { MemoryData } from '#actors/memory/kinds.ts'
import type { Row } from '#records/schema.ts'

const place = { scope: 'user', session: null, namespace: null } as const
const contents = ['I live in Oslo.', 'i live in oslo', 'The cello is red', 'Die Straße', '!?', 'a b c']

const rowOf = (n: number, content: string, over: Partial<Row<MemoryData>>): Row<MemoryData> => ({
  ...{ id: `mem_${n}`, project: 'prj_1', tenant: null, user: 'ada', version: 1, created_at: 1, updated_at: 1 },
  expires_at: null,
  data: {
    ...{ owner: '/ada', content, scope: 'user', session_id: null, namespace: null, importance: 0.5, pinned: false },
    ...{ metadata: {}, source: 'write', speaker: null, receipt: null, redacted: [], facts: [], observed_at_ms: n },
    ...{ valid_from_ms: null, valid_to_ms: null, superseded_by: null, embedder: null, vector: null, used_at_ms: null },
    versions: [],
  },
  ...over,
})

const change = fc.record({ n: fc.nat(8), content: fc.constantFrom(...contents), removed: fc.boolean() })

const keyOf = (content: string): string => contentKey(place, content)

describe('the memories of one user', () => {
  it('have a correct duplicate of a text after any changes, before and after the first lookup', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), fc.nat(30), (changes, first) => {
        const index = new UserMemoryIndex(null)
        const held = new Map<string, string>()
        const dead = new Set<string>()
        for (const [at, { n, content, removed }] of changes.entries()) {
          if (at === first) index.twin('')
          const id = `mem_${n}`
          if (removed) index.remove(id)
          else index.put(rowOf(n, content, { version: at + 1 }))
          if (removed) dead.add(id)
          if (removed) held.delete(id)
          else if (!dead.has(id)) held.set(id, content)
        }
        for (const content of contents) {
          const id = index.twin(keyOf(content))
          if (id !== undefined) expect(keyOf(held.get(id) ?? '')).toBe(keyOf(content))
        }
        const late = first >= changes.length
        if (late) for (const content of held.values()) expect(index.twin(keyOf(content))).toBeDefined()
      }),
    )
  })

  it('have no duplicate that is no longer valid', () => {
    const index = new UserMemoryIndex(null)
    const row = rowOf(1, 'I live in Oslo.', {})
    index.put({ ...row, data: { ...row.data, valid_to_ms: 5 } })
    expect(index.twin(keyOf('I live in Oslo.'))).toBeUndefined()
    index.put({ ...row, id: 'mem_2' })
    expect(index.twin(keyOf('i live in oslo'))).toBe('mem_2')
  })

  it('do not include a removed one again when an earlier read of it is added late', () => {
    const index = new UserMemoryIndex(null)
    index.put(rowOf(1, 'I live in Oslo.', {}))
    index.remove('mem_1')
    index.put(rowOf(1, 'I live in Oslo.', { version: 2 }))
    expect(index.size).toBe(0)
    expect(index.twin(keyOf('I live in Oslo.'))).toBeUndefined()
  })
})
