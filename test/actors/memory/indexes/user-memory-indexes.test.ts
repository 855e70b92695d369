import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import { memories, memoryChanges } from '#actors/memory/kinds.ts'
import type { MemoryOwner } from '#actors/memory/memory-owner.ts'
import type { MemoryParts, OpenMemory } from '#actors/memory/open-memory.ts'
import { Table } from '#records/table.ts'
import { projectScope, wholeProjectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { plainMemory } from '../scripted-memory.ts'

const ada: MemoryOwner = { project: 'prj_1', tenant: null, user: 'ada' }
const scope = projectScope(ada.project)
const place = { scope: 'user', session: null, namespace: null } as const
const host: MemoryParts['host'] = Object({ rows: { shown: async () => {} } })
const none = { vectors: [], costUsd: 0, model: null, provider: null }
/** Time in ms after which a node reads all memories of a user again. */
const rereadMs = 11 * 60_000

describe('the memory of a user that several nodes have read', () => {
  const opened = async () => {
    const clock = new VirtualClock(Date.parse('2026-01-01'))
    const storage = openMemoryStorage({ now: clock.now })
    await storage.records.prepare(kinds)
    const log = pino({ level: 'silent' })
    const node = (more: Partial<MemoryParts> = {}) =>
      plainMemory({ storage, records: storage.records, host, clock, log, ...more })
    return { storage, clock, node }
  }

  const write = async (node: OpenMemory, content: string) => {
    const { memories: written } = await node.writer.write(ada, [{ place, content }], { source: 'write', seed: null })
    return written[0]?.id ?? ''
  }
  const found = async (node: OpenMemory, text: string) => {
    const where = { scope: null, session: null, namespace: null }
    const query = { text, place: where, limit: 5, threshold: 0.5, asOf: null, graph: false }
    return (await node.search.search(ada, query)).results.map(({ content }) => content)
  }

  it.each([true, false])(
    'is written and found again after all of it was removed with the row of its changes (first by another: %s)',
    async (byAnother) => {
      const { storage, clock, node } = await opened()
      const [one, other] = [node(), node()]
      for (const content of ['Ada keeps bees', 'Ada plays the cello', 'Ada likes tea']) await write(one, content)
      for (const kind of [memories, memoryChanges])
        await storage.records.clear(kind, wholeProjectScope(ada.project), 100)
      if (byAnother) await write(other, 'Ada rides a horse')
      const written = write(one, 'Ada sails a boat')
      await clock.advance(60_000)
      await written
      await write(other, 'Ada bakes bread')
      expect(await found(one, 'Who bakes bread?')).toEqual(['Ada bakes bread'])
      expect(await found(one, 'Who keeps bees?')).toEqual([])
      expect(await found(other, 'Who sails a boat?')).toEqual(['Ada sails a boat'])
    },
  )

  it('is found by its content in a backup that was restored, within ten minutes', async () => {
    const { storage, clock, node } = await opened()
    const one = node()
    const id = await write(one, 'Ada keeps bees')
    const backup = await storage.records.list(memories, scope, { limit: 10 })
    const [row] = backup
    if (row === undefined) throw new Error('not stored')
    await storage.records.replace(memories, {
      ...{ ...row, version: row.version + 1 },
      data: { ...row.data, content: 'Ada plays the cello' },
    })
    await one.indexes.wrote(ada, [id], () => {})
    await clock.advance(rereadMs)
    expect(await found(one, 'Who plays the cello?')).toEqual(['Ada plays the cello'])
    await storage.records.remove(memories, scope, id)
    await storage.records.insertMany(memories, backup)
    await clock.advance(rereadMs)
    expect(await found(one, 'Who keeps bees?')).toEqual(['Ada keeps bees'])
  })

  it('has a memory that was removed and stored again, within ten minutes', async () => {
    const { storage, clock, node } = await opened()
    const one = node()
    const id = await write(one, 'Ada keeps bees')
    const backup = await storage.records.list(memories, scope, { limit: 10 })
    await one.forget(ada, [id])
    expect(await found(one, 'Who keeps bees?')).toEqual([])
    await storage.records.insertMany(memories, backup)
    await clock.advance(rereadMs)
    expect(await found(one, 'Who keeps bees?')).toEqual(['Ada keeps bees'])
  })

  it('has a content once that another node stores, and this one reads, while this one decides on it', async () => {
    const { storage, clock, node } = await opened()
    const other = node()
    await write(other, 'Ada plays the cello')
    let isDecided = false
    const compare = async (text: string, older: readonly unknown[]) => {
      if (!isDecided && text === 'Ada keeps bees') {
        isDecided = true
        await write(other, text)
        await one.indexes.open(ada)
      }
      return older.map(() => -20)
    }
    const one = node({ embedderOf: async () => ({ id: 'local/none', embed: async () => none, compare }) })
    const written = write(one, 'Ada keeps bees')
    await clock.advance(1_000)
    await written
    expect(await storage.records.count(memories, scope)).toBe(2)
  })

  it('takes no more memory, within ten minutes, than what is stored of a memory that changed many times', async () => {
    const { storage, clock, node } = await opened()
    const one = node()
    const id = await write(one, 'Ada keeps bees')
    const index = await one.indexes.open(ada)
    const before = index.bytes
    const row = await new Table(storage.records, memories, clock.now).get(scope, id)
    if (row === null) throw new Error('not stored')
    const changed = (n: number) => ({ ...row, version: n, data: { ...row.data, content: `Ada keeps hive${n}` } })
    for (let n = 2; n <= 1_000; n++) index.put(changed(n))
    await storage.records.remove(memories, scope, id)
    await storage.records.insertMany(memories, [changed(1_001)])
    await clock.advance(rereadMs)
    expect((await one.indexes.open(ada)).bytes).toBeLessThan(before * 1.1)
  })
})
