import { expect, it } from 'vitest'
import { settledFacts } from '#actors/memory/indexes/settled-facts.ts'
import { type MemoryEntry, UserMemoryIndex } from '#actors/memory/indexes/user-memory-index.ts'
import { givenFacts } from '#actors/memory/memory-use-cases.ts'
import { Pause } from '#retrieval/index.ts'

const factsOf = (relations: number) =>
  givenFacts(
    Array.from({ length: relations }, (_, n) => ({ subject: 'Ada', relation: `r${n}`, object: 'x', single: true })),
    { text: 'x', at: 0 },
  )

it('facts are compared in turns of the loop, however many memories have facts about the same', async () => {
  const read = { total: 0, inTurn: 0, most: 0 }
  class Counted extends UserMemoryIndex {
    override *about(...given: Parameters<UserMemoryIndex['about']>): Iterable<MemoryEntry> {
      for (const entry of super.about(...given)) {
        read.total++
        read.most = Math.max(read.most, ++read.inTurn)
        yield entry
      }
    }
  }
  class EachTime extends Pause {
    override due = () => true
    override async turn(): Promise<void> {
      read.inTurn = 0
    }
  }
  const index = new Counted(null)
  const data = {
    ...{
      project: 'prj_1',
      user: 'ada',
      scope: 'user',
      session_id: null,
      namespace: null,
      content: 'x',
      facts: factsOf(5),
    },
    ...{ importance: 0.5, pinned: false, source: 'write', seed: null, metadata: {}, speaker: null, receipt: null },
    ...{ observed_at_ms: 0, valid_from_ms: null, valid_to_ms: null, superseded_by: null, used_at_ms: null },
    ...{ embedder: null, vector: null },
  } as const
  const times = { version: 1, created_at: 0, updated_at: 0, expires_at: null }
  for (let n = 0; n < 8; n++) index.put(Object({ id: `mem_${n}`, project: 'prj_1', tenant: null, data, ...times }))
  await settledFacts(index, factsOf(5), new EachTime())
  expect(read).toMatchObject({ total: 40, most: 1 })
})
