import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import { memories } from '#actors/memory/kinds.ts'
import type { MemoryOwner } from '#actors/memory/memory-owner.ts'
import type { MemoryParts, OpenMemory } from '#actors/memory/open-memory.ts'
import { Table } from '#records/table.ts'
import type { RecordKind, RecordStore, StoredRecord } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { plainMemory } from '../scripted-memory.ts'

const ada: MemoryOwner = { project: 'prj_1', tenant: null, user: 'ada' }
const place = { scope: 'user', session: null, namespace: null } as const
const host: MemoryParts['host'] = Object({ rows: { shown: async () => {} } })

/** Records whose changes of some kinds are never answered, as those of a process that was killed. */
const dyingAt = (records: RecordStore, isLost: (kind: RecordKind) => boolean): RecordStore =>
  new Proxy(records, {
    get: (target, name: keyof RecordStore) => {
      const method = target[name].bind(target)
      if (name !== 'replace') return method
      return (kind: RecordKind, record: StoredRecord) =>
        isLost(kind) ? new Promise(() => {}) : records.replace(kind, record)
    },
  })

describe('a decided write of a memory', () => {
  const opened = async () => {
    const clock = new VirtualClock(Date.parse('2026-01-01'))
    const storage = openMemoryStorage({ now: clock.now })
    await storage.records.prepare(kinds)
    const log = pino({ level: 'silent' })
    const node = (records: RecordStore) => plainMemory({ storage, records, host, clock, log })
    const table = new Table(storage.records, memories, clock.now)
    const rows = () => table.list(projectScope(ada.project), { limit: 9, ascending: true })
    return { clock, records: storage.records, node, rows }
  }
  const write = (memory: OpenMemory, content: string) =>
    memory.writer.write(ada, [{ content, place }], { source: 'write', seed: null })
  const search = (memory: OpenMemory) =>
    memory.search.search(ada, {
      ...{ text: 'Where do I live?', place: { scope: null, session: null, namespace: null } },
      ...{ limit: 5, threshold: 0, asOf: null, graph: false },
    })

  it('is carried out whole by another process when its own died after the new memory was stored', async () => {
    const { clock, records, node, rows } = await opened()
    const other = node(records)
    await write(other, 'I live in Paris.')
    await clock.advance(1000)
    // the process dies before it ends the older memory
    const dying = dyingAt(records, (kind) => kind.name === 'memories')
    void write(node(dying), 'I live in Oslo.')
    await expect.poll(async () => (await rows()).length).toBe(2)
    expect((await rows()).map(({ data }) => data.valid_to_ms)).toEqual([null, null])
    await clock.advance(10_000)
    expect((await search(other)).results.map(({ content }) => content)).toEqual(['I live in Oslo.'])
    const [paris, oslo] = await rows()
    expect(paris?.data).toMatchObject({ superseded_by: oslo?.id })
    await write(other, 'I live in Rome.')
    expect((await rows()).filter(({ data }) => data.valid_to_ms === null)).toHaveLength(1)
  })

  it('delays the next write of another process until it is carried out, and refuses none', async () => {
    const { clock, records, node, rows } = await opened()
    const other = node(records)
    await write(other, 'I live in Paris.')
    await clock.advance(1000)
    void write(node(dyingAt(records, (kind) => kind.name === 'memories')), 'I live in Oslo.')
    await expect.poll(async () => (await rows()).length).toBe(2)
    const next = write(other, 'I live in Rome.')
    for (let ms = 0; ms < 6000; ms += 50) await clock.advance(50)
    expect((await next).memories).toHaveLength(1)
    const current = (await rows()).filter(({ data }) => data.valid_to_ms === null)
    expect(current.map(({ data }) => data.content)).toEqual(['I live in Rome.'])
  })

  it('leaves nothing when its process died before it was claimed', async () => {
    const { records, node, rows } = await opened()
    const other = node(records)
    await write(other, 'I live in Paris.')
    void write(node(dyingAt(records, () => true)), 'I live in Oslo.')
    await write(other, 'I live in Rome.')
    expect((await rows()).map(({ data }) => data.content)).toEqual(['I live in Paris.', 'I live in Rome.'])
  })

  it('supersedes the part of a memory that no longer holds, and leaves the rest', async () => {
    const { clock, records, node, rows } = await opened()
    const memory = node(records)
    await write(memory, 'I moved to Lisbon and my dog is called Biscuit.')
    await clock.advance(1000)
    await write(memory, 'I live in Oslo now.')
    const { results } = await search(memory)
    expect(results[0]).toMatchObject({ content: 'I live in Oslo now.' })
    expect(results.map(({ content }) => content).join()).not.toContain('Lisbon')
    const [older] = await rows()
    expect(older?.data.valid_to_ms).toBeNull()
    expect(older?.data.superseded).toMatchObject([{ text: 'I moved to Lisbon' }])
  })

  it('stores what a repetition finds beside what the first run stored, each once', async () => {
    const { records, node, rows } = await opened()
    const { writer } = node(records)
    const repeated = (contents: readonly string[]) =>
      writer.write(
        ada,
        contents.map((content) => ({ content, place })),
        { source: 'remember', seed: '01m8pkmctaqwq8hycm3mjaefm0' },
      )
    await repeated(['I own a kayak.', 'My sister is a vet.'])
    const { memories: second } = await repeated(['My sister is a vet.', 'I play chess.', 'I play chess.'])
    expect((await rows()).map(({ data }) => data.content).toSorted()).toEqual([
      ...['I own a kayak.', 'I play chess.', 'My sister is a vet.'],
    ])
    expect(new Set(second.map(({ id }) => id)).size).toBe(2)
    expect(second.map(({ duplicate }) => duplicate)).toEqual([false, false, true])
  })

  it('ends a memory of several sentences whose only fact has ended', async () => {
    const { clock, records, node, rows } = await opened()
    const memory = node(records)
    const remembered = async (text: string) => {
      const at = { valid_from_ms: clock.now(), valid_to_ms: null, observed_at_ms: clock.now() }
      const facts = [
        { ...{ subject: 'user', relation: 'commute', object: text, single: true, ended: false }, ...at, text },
      ]
      await memory.writer.write(ada, [{ content: text, place, facts, byFacts: true }], {
        source: 'remember',
        seed: null,
      })
      await clock.advance(1000)
    }
    await remembered('I go by bus. It takes half an hour.')
    await remembered('Sold on the e-bike. I pedal in every morning.')
    expect((await rows()).map(({ data }) => data.valid_to_ms === null)).toEqual([false, true])
  })

  it('supersedes what an update in other words clearly means, and nothing said in addition', async () => {
    const { clock, records, node, rows } = await opened()
    const memory = node(records)
    const said = ['My dog is called Rex.', 'We keep our notes in Evernote.', 'I also keep some notes on paper.']
    for (const content of [...said, 'We switched from Evernote to Obsidian.']) {
      await write(memory, content)
      await clock.advance(1000)
    }
    const current = (await rows()).filter(({ data }) => data.valid_to_ms === null)
    expect(current.map(({ data }) => data.content)).toEqual([
      said[0],
      said[2],
      'We switched from Evernote to Obsidian.',
    ])
  })
})
