import { expect, it, vi } from 'vitest'
import { exactTotal, listName, Totals, totalAgeMs } from '#storage/totals.ts'

/** A list of so many records, and how often they were counted to the end. */
const listOf = (initial: number) => {
  const list = { rows: initial, counted: 0 }
  const countTo = async (limit?: number) => {
    if (limit === undefined) list.counted++
    return Math.min(list.rows, limit ?? list.rows)
  }
  return { list, countTo }
}

it('counts exactly as long as there are few records, each time', async () => {
  const totals = new Totals()
  const { list, countTo } = listOf(exactTotal)
  expect(await totals.of('a', countTo)).toBe(exactTotal)
  list.rows = 7
  expect(await totals.of('a', countTo)).toBe(7)
  expect(list.counted).toBe(0)
})

it('counts many records to the end once for all who ask within a time, and again after it', async () => {
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

it('says no less than what it has just seen', async () => {
  const totals = new Totals()
  const { list, countTo } = listOf(exactTotal + 1)
  await totals.of('a', countTo)
  list.rows = 3
  expect(await totals.of('a', countTo)).toBe(3)
})

it('counts again when counting failed', async () => {
  const totals = new Totals()
  const { countTo } = listOf(5_000)
  const away = async (limit?: number) => (limit === undefined ? Promise.reject(new Error('away')) : limit)
  await expect(totals.of('a', away)).rejects.toThrow('away')
  expect(await totals.of('a', countTo)).toBe(5_000)
})

it('keeps lists of other kinds, scopes and conditions apart', () => {
  const scope = { project: 'prj_1', tenant: null, user: null }
  const names = [
    listName({ name: 'a' }, scope),
    listName({ name: 'b' }, scope),
    listName({ name: 'a' }, { ...scope, project: 'prj_2' }),
    listName({ name: 'a' }, { ...scope, tenant: 'ten_1' }),
    listName({ name: 'a' }, { ...scope, tenant: 'ten_1', user: 'u' }),
    listName({ name: 'a' }, scope, { status: 'x' }),
    listName({ name: 'a' }, scope, { status: null }),
  ]
  expect(new Set(names).size).toBe(names.length)
})
