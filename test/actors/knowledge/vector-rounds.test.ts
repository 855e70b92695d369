import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { sourceRows } from '#actors/knowledge/kinds.ts'
import { maxConcurrent, VectorRounds } from '#actors/knowledge/sources/vector-rounds.ts'
import { EmbeddedProjects } from '#actors/memory/embedding/embedded-projects.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#storage/scope.ts'
import { recordOf } from '#test/storage/samples.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const scope = projectScope('prj_1')
const document = { title: null, text: [], chunks: [], chunk_count: 1 }

/** Rounds over one project, whose sources are embedded by `work` only. */
const opened = async (count: number, { isOurs = (): boolean => true, broken = new Set<string>() } = {}) => {
  const clock = new VirtualClock()
  const { records } = openMemoryStorage({ now: clock.now })
  const table = new Table(records, sourceRows, clock.now)
  const projects = new EmbeddedProjects(records, clock.now)
  await projects.note('prj_1')
  const idOf = (n: number): string => `src_${String(n).padStart(4, '0')}`
  const of = (n: number, data: object) =>
    recordOf(idOf(n), { tenant: null, data: { status: 'ready', document, vectors: null, ...data } })
  for (let n = 0; n < count; n++) await records.insert(sourceRows, of(n, {}))
  const chosen: { embedder: string | null } = { embedder: 'one' }
  const requested: [source: string, embedder: string][] = []
  let open: [source: string, embedder: string][] = []
  const rounds = new VectorRounds({
    ...{ records, clock, projects, isOurs, log: pino({ level: 'silent' }) },
    embedderOf: async () => chosen.embedder,
    embedAgain: async (source, embedder) => {
      requested.push([source, embedder])
      open.push([source, embedder])
    },
  })
  /** Completes the embeddings that were requested. */
  const work = async (): Promise<number> => {
    const done = open.filter(([source]) => !broken.has(source))
    open = []
    for (const [id, embedder] of done)
      await table.change(scope, id, { edit: ({ data }) => ({ ...data, vectors: { embedder, parts: [], count: 1 } }) })
    return done.length
  }
  const all = async (): Promise<number> => {
    let max = 0
    for (let n = 0; n < 200; n++) {
      await rounds.round()
      max = Math.max(max, open.length)
      await work()
    }
    return max
  }
  return { clock, records, table, rounds, requested, chosen, idOf, of, work, all }
}

describe('vectors of knowledge sources, without a search', () => {
  it('are requested for every source, once and a few at a time', async () => {
    const { all, requested, idOf } = await opened(450)
    expect(await all()).toBe(maxConcurrent)
    expect(requested.map(([source]) => source)).toEqual(Array.from({ length: 450 }, (_, n) => idOf(n)))
  })

  it('are requested again for another embedder, even before all sources have those of the previous one', async () => {
    const { all, rounds, chosen, requested, table } = await opened(20)
    await rounds.round()
    chosen.embedder = 'two'
    await all()
    const embedders = (await table.list(scope, { limit: 100 })).map(({ data }) => data.vectors?.embedder)
    expect(new Set(embedders)).toEqual(new Set(['two']))
    chosen.embedder = 'one'
    await all()
    expect(requested.filter(([, embedder]) => embedder === 'one')).toHaveLength(maxConcurrent + 20)
  })

  it('are requested for a failed source, whose earlier document is still found', async () => {
    const { all, records, requested, of, idOf } = await opened(0)
    await records.insert(sourceRows, of(1, { status: 'failed' }))
    await all()
    expect(requested).toEqual([[idOf(1), 'one']])
  })

  it('are not requested for a source that has them, is being read or has no text', async () => {
    const { all, records, requested, of } = await opened(0)
    await records.insert(sourceRows, of(1, { vectors: { embedder: 'one', parts: [], count: 1 } }))
    await records.insert(sourceRows, of(2, { status: 'pending' }))
    await records.insert(sourceRows, of(3, { document: null }))
    await all()
    expect(requested).toEqual([])
  })

  it('are requested for the pages of a source whose chunks have them', async () => {
    const { all, records, requested, of, idOf } = await opened(0)
    const paged = { document: { ...document, page_count: 2 } }
    await records.insert(sourceRows, of(1, { ...paged, vectors: { embedder: 'one', parts: [], count: 1 } }))
    await records.insert(
      sourceRows,
      of(2, { ...paged, vectors: { embedder: 'one', parts: [], count: 1, leads: true } }),
    )
    await all()
    expect(requested).toEqual([[idOf(1), 'one']])
  })

  it('are not requested without an embedder, nor by a process that does not own the project', async () => {
    const none = await opened(3)
    none.chosen.embedder = null
    await none.all()
    const others = await opened(3, { isOurs: () => false })
    await others.all()
    expect([none.requested, others.requested]).toEqual([[], []])
  })

  it('are not delayed by failing sources for longer than a quarter of an hour', async () => {
    const broken = new Set(Array.from({ length: maxConcurrent }, (_, n) => `src_000${n}`))
    const { all, clock, requested } = await opened(maxConcurrent + 3, { broken })
    await all()
    expect(requested).toHaveLength(maxConcurrent)
    await clock.advance(16 * 60_000)
    await all()
    expect(requested).toHaveLength(maxConcurrent + 3)
  })

  it('require no reads of sources once all have them', async () => {
    const { all, rounds, records, requested, of } = await opened(3)
    await all()
    await records.insert(sourceRows, of(9, {}))
    await rounds.round()
    expect(requested).toHaveLength(3)
  })
})
