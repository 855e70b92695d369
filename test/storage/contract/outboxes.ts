import { expect, it } from 'vitest'
import type { MessageRecord, StoredRecord } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import type { Subject } from '../contract.ts'
import { letters, parcels, recordOf } from '../samples.ts'

const message = (id: string): MessageRecord => ({ id, to: 'act_1', event: { type: 'sent', at: 5_000, by: ['a'] } })

/** Contract of messages within the document of a record. */
export const outboxContract = ({ store, fresh, setNow }: Subject): void => {
  const scope = projectScope('prj_1')
  const written = async (change: Partial<StoredRecord> = {}): Promise<StoredRecord> => {
    const id = fresh('let')
    const record = recordOf(id, { outbox: [message(`${id}:1:0`)], ...change })
    expect(await store().records.insert(letters, record)).toBe('done')
    return record
  }
  const openIds = async (): Promise<readonly string[]> =>
    (await store().records.openOutboxes(letters, null, 1000)).map(({ id }) => id)

  it('exist only for a record that was written with messages', async () => {
    const record = await written()
    const plain = recordOf(fresh('let'))
    await store().records.insert(letters, plain)
    expect(await store().records.get(letters, scope, record.id)).toEqual(record)
    expect(await store().records.get(letters, scope, plain.id)).toEqual(plain)
    expect(await openIds()).toContain(record.id)
    expect(await openIds()).not.toContain(plain.id)
  })

  it('are found across projects, by id, one page at a time', async () => {
    const [first, second] = [await written(), await written({ project: 'prj_2' })]
    const after = await store().records.openOutboxes(letters, first.id, 1)
    expect(after).toEqual([second])
    expect(await store().records.openOutboxes(letters, second.id, 10)).toEqual([])
  })

  it('are found by the kinds of records that have some', async () => {
    const record = await written()
    expect(await store().records.withOpenOutboxes([parcels, letters])).toContain(letters)
    for (const open of await store().records.openOutboxes(letters, null, 1000))
      await store().records.closeOutbox(letters, open)
    expect(await store().records.withOpenOutboxes([parcels, letters])).toEqual([])
    await store().records.insert(parcels, { ...record, id: fresh('par') })
    expect(await store().records.withOpenOutboxes([parcels, letters])).toEqual([parcels])
    expect(await store().records.withOpenOutboxes([])).toEqual([])
  })

  it('are replaced together with the record, and removed by a replacement without messages', async () => {
    const record = await written()
    const { outbox: _none, ...bare } = record
    const next = { ...record, version: 2, outbox: [message('a'), message('b')] }
    expect(await store().records.replace(letters, next)).toBe('done')
    expect(await store().records.get(letters, scope, record.id)).toEqual(next)
    expect(await store().records.replace(letters, { ...bare, version: 3 })).toBe('done')
    expect(await openIds()).not.toContain(record.id)
  })

  it('are closed without a new version of the record', async () => {
    const record = await written()
    const { outbox: _delivered, ...bare } = record
    expect(await store().records.closeOutbox(letters, record)).toBe(true)
    expect(await store().records.get(letters, scope, record.id)).toEqual(bare)
    expect(await openIds()).not.toContain(record.id)
    expect(await store().records.closeOutbox(letters, record)).toBe(false)
  })

  it('stay if the record was written since they were read', async () => {
    const record = await written()
    const next = { ...record, version: 2, outbox: [message('later')] }
    await store().records.replace(letters, next)
    expect(await store().records.closeOutbox(letters, record)).toBe(false)
    expect(await store().records.get(letters, scope, record.id)).toEqual(next)
  })

  it('outlive an expired record, which is hidden but kept until they are delivered', async () => {
    setNow(10_000)
    const record = await written({ expires_at: 10_000 })
    expect(await store().records.get(letters, scope, record.id)).toBeNull()
    await store().records.sweep(letters, 10_000)
    expect(await store().records.openOutboxes(letters, null, 1000)).toContainEqual(record)
    expect(await store().records.replace(letters, { ...record, version: 2 })).toBe('missing')
    expect(await store().records.closeOutbox(letters, record)).toBe(true)
    expect(await openIds()).not.toContain(record.id)
    expect(await store().records.insert(letters, recordOf(record.id))).toBe('done')
  })

  it('of a removed record without its keys do not block a new record with these keys', async () => {
    setNow(10_000)
    const address = fresh('addr')
    const record = await written({ data: { address } })
    const gone = { ...record, version: 2, data: {}, expires_at: 1 }
    expect(await store().records.replace(letters, gone)).toBe('done')
    expect(await store().records.insert(letters, recordOf(fresh('let'), { data: { address } }))).toBe('done')
    expect(await store().records.openOutboxes(letters, null, 1000)).toContainEqual(gone)
  })
}
