import { expect, it, vi } from 'vitest'
import { projectScope, scopeAmong, tenantScope, userScope } from '#storage/scope.ts'
import { exactTotal, listName, Totals, totalAgeMs } from '#storage/totals.ts'

/** A list with `initial` records, and the number of its full counts. */
const listOf = (initial: number) => {
  const list = { rows: initial, counted: 0 }
  const countTo = async (limit?: number) => {
    if (limit === undefined) list.counted++
    return Math.min(list.rows, limit ?? list.rows)
  }
  return { list, countTo }
}

it('the total of a small list is counted exactly on each request', async () => {
  const totals = new Totals()
  const { list, countTo } = listOf(exactTotal)
  expect(await totals.of('a', countTo)).toBe(exactTotal)
  list.rows = 7
  expect(await totals.of('a', countTo)).toBe(7)
  expect(list.counted).toBe(0)
})

it('the total of a large list is counted once for all requests within an interval, and again after it', async () => {
  const totals = new Totals()
  const { list, countTo } = listOf(50_000)
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  const pending = Array.from({ length: 20 }, () => totals.of('a', countTo))
  expect(new Set(await Promise.all(pending))).toEqual(new Set([50_000]))
  list.rows = 60_000
  expect(await totals.of('a', countTo)).toBe(50_000)
  expect(list.counted).toBe(1)
  clock.mockReturnValue(totalAgeMs)
  expect(await totals.of('a', countTo)).toBe(60_000)
  clock.mockRestore()
})

it('the total of a list that became small is counted exactly again', async () => {
  const totals = new Totals()
  const { list, countTo } = listOf(exactTotal + 1)
  await totals.of('a', countTo)
  list.rows = 3
  expect(await totals.of('a', countTo)).toBe(3)
})

it('a total is counted again after a failed count', async () => {
  const totals = new Totals()
  const { countTo } = listOf(5_000)
  const away = async (limit?: number) => (limit === undefined ? Promise.reject(new Error('away')) : limit)
  await expect(totals.of('a', away)).rejects.toThrow('away')
  expect(await totals.of('a', countTo)).toBe(5_000)
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
