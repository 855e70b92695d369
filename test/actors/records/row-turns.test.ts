import { expect, it } from 'vitest'
import { boundRecords } from '#records/bound-records.ts'
import type { TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

type Counter = { readonly n: number }
const counters: TypedKind<Counter> = { name: 'counters' }
const scope = projectScope('prj_1')

/** A store that counts its writes, each of which takes a turn of the event loop. */
const open = async () => {
  const { records } = openMemoryStorage()
  const writes = { count: 0 }
  const slow = {
    ...boundRecords(records),
    replace: async (...args: Parameters<typeof records.replace>) => {
      writes.count++
      await new Promise((resolve) => setImmediate(resolve))
      return records.replace(...args)
    },
  }
  const tables = [new Table(slow, counters, Date.now), new Table(slow, counters, Date.now)]
  await tables[0]?.insert({ id: 'cnt_1', project: 'prj_1', data: { n: 0 } })
  return { writes, tables }
}

it('fifty concurrent changes of one row through two tables take fifty writes', async () => {
  const { writes, tables } = await open()
  const changes = Array.from({ length: 50 }, (_, n) =>
    tables[n % 2]?.change(scope, 'cnt_1', { edit: ({ data }) => ({ n: data.n + 1 }) }),
  )
  await Promise.all(changes)
  expect((await tables[0]?.get(scope, 'cnt_1'))?.data).toEqual({ n: 50 })
  expect(writes.count).toBe(50)
})

it('a change that throws does not block the next one', async () => {
  const { tables } = await open()
  const [table] = tables
  const refused = table?.change(scope, 'cnt_1', {
    edit: () => {
      throw new Error('refused')
    },
  })
  const next = table?.change(scope, 'cnt_1', { edit: ({ data }) => ({ n: data.n + 1 }) })
  await expect(refused).rejects.toThrow('refused')
  expect((await next)?.data).toEqual({ n: 1 })
})
