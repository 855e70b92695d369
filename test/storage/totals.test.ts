import { expect, it, vi } from 'vitest'
import { projectScope, scopeAmong, tenantScope, userScope } from '#storage/scope.ts'
import { currentTotal, exactly, exactTotal, listName, Totals, totalAgeMs } from '#storage/totals.ts'

/** A list with `initial` records, and the number of its counts above those that are of the moment. */
const listOf = (initial: number) => {
  const list = { rows: initial, counted: 0, mostCounted: 0 }
  const countTo = async (limit: number) => {
    if (limit > currentTotal + 1) list.counted++
    list.mostCounted = Math.max(list.mostCounted, Math.min(list.rows, limit))
    return Math.min(list.rows, limit)
  }
  return { list, countTo }
}

it('the total of a small list is counted exactly on each request', async () => {
  const totals = new Totals()
  const { list, countTo } = listOf(currentTotal)
  expect(await totals.of('a', countTo)).toEqual(exactly(currentTotal))
  list.rows = 7
  expect(await totals.of('a', countTo)).toEqual(exactly(7))
  expect(list.counted).toBe(0)
})

it('the total of a large list is counted once for all requests within an interval, and again after it', async () => {
  const totals = new Totals()
  const { list, countTo } = listOf(5_000)
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  const pending = await Promise.all(Array.from({ length: 20 }, () => totals.of('a', countTo)))
  for (const total of pending) expect(total).toEqual(exactly(5_000))
  list.rows = 6_000
  expect(await totals.of('a', countTo)).toEqual(exactly(5_000))
  expect(list.counted).toBe(1)
  clock.mockReturnValue(totalAgeMs)
  expect(await totals.of('a', countTo)).toEqual(exactly(6_000))
  clock.mockRestore()
})

it('the total of a list of any length costs a bounded count, and says that there are more', async () => {
  const totals = new Totals()
  const { list, countTo } = listOf(5_000_000)
  expect(await totals.of('a', countTo)).toEqual({ count: exactTotal, is: 'at_least' })
  expect(list.mostCounted).toBe(exactTotal + 1)
  expect(await new Totals().of('b', listOf(exactTotal).countTo)).toEqual(exactly(exactTotal))
})

it('the total of a list that became small is counted exactly again', async () => {
  const totals = new Totals()
  const { list, countTo } = listOf(currentTotal + 1)
  await totals.of('a', countTo)
  list.rows = 3
  expect(await totals.of('a', countTo)).toEqual(exactly(3))
})

it('a total is counted again after a failed count', async () => {
  const totals = new Totals()
  const { countTo } = listOf(5_000)
  const away = async (limit: number) => (limit > currentTotal + 1 ? Promise.reject(new Error('away')) : limit)
  await expect(totals.of('a', away)).rejects.toThrow('away')
  expect(await totals.of('a', countTo)).toEqual(exactly(5_000))
})

it('lists of different kinds, scopes and conditions have different totals', () => {
  const scope = projectScope('prj_1')
  const names = [
    listName({ name: 'a' }, scope),
    listName({ name: 'b' }, scope),
    listName({ name: 'a' }, projectScope('prj_2')),
    listName({ name: 'a' }, tenantScope('prj_1', 'ten_1')),
    listName({ name: 'a' }, userScope('prj_1', 'ten_1', 'u')),
    listName({ name: 'a' }, scope, { status: 'x' }),
    listName({ name: 'a' }, scope, { status: null }),
    listName({ name: 'a' }, scopeAmong(scope, { tenants: ['ten_1'], untenanted: false })),
    listName({ name: 'a' }, scopeAmong(scope, { tenants: ['ten_1'], untenanted: true })),
  ]
  expect(new Set(names).size).toBe(names.length)
})
