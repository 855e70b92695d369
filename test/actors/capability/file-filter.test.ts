import { describe, expect, it } from 'vitest'
import { fileFilter, matchesFile } from '#actors/capability/file-filter.ts'

describe('the filter of a file search', () => {
  const metadata = { lang: 'en', year: 2025, tags: ['a', 'b'], public: true }
  it.each([
    ['eq', 'lang', 'en', true],
    ['eq', 'lang', 'de', false],
    ['eq', 'tags', 'b', true],
    ['eq', 'public', true, true],
    ['eq', 'missing', 'en', false],
    ['ne', 'lang', 'de', true],
    ['ne', 'missing', 'de', true],
    ['ne', 'tags', 'a', false],
    ['gt', 'year', 2024, true],
    ['gt', 'year', 2025, false],
    ['gte', 'year', 2025, true],
    ['lt', 'year', 2026, true],
    ['lte', 'year', 2024, false],
    ['gt', 'lang', 'de', true],
    ['lte', 'lang', 'en', true],
    ['lt', 'year', '2026', false],
    ['gt', 'missing', 1, false],
    ['in', 'lang', ['de', 'en'], true],
    ['in', 'tags', ['b', 'c'], true],
    ['in', 'lang', [], false],
    ['nin', 'lang', ['de'], true],
    ['nin', 'tags', ['a'], false],
  ])('evaluates %s of %s with %j to %s', (type, key, value, holds) => {
    expect(matchesFile(fileFilter({ type, key, value }, 'filters'), metadata)).toBe(holds)
  })

  const is = (key: string, value: unknown) => ({ type: 'eq', key, value })
  it.each([
    ['and', [is('lang', 'en'), is('year', 2025)], true],
    ['and', [is('lang', 'en'), is('year', 2024)], false],
    ['or', [is('lang', 'de'), is('year', 2025)], true],
    ['or', [is('lang', 'de'), { type: 'and', filters: [is('lang', 'en'), is('public', false)] }], false],
  ])('combines filters with %s (%#)', (type, filters, holds) => {
    expect(matchesFile(fileFilter({ type, filters }, 'filters'), metadata)).toBe(holds)
  })

  it('is data: it means the same after it was sent as JSON', () => {
    const filters = [
      { type: 'in', key: 'lang', value: ['en', {}, null] },
      { type: 'or', filters: [is('year', 2025)] },
    ]
    const filter = fileFilter({ type: 'and', filters }, 'filters')
    expect(JSON.parse(JSON.stringify(filter))).toEqual(filter)
    expect(
      [metadata, { lang: null, year: 2025 }, { lang: 'de', year: 2025 }].map((of) => matchesFile(filter, of)),
    ).toEqual([true, true, false])
  })

  it('accepts at most five levels', () => {
    const nested = (depth: number): object =>
      depth === 0 ? is('lang', 'en') : { type: 'and', filters: [nested(depth - 1)] }
    expect(matchesFile(fileFilter({ ...nested(4) }, 'filters'), metadata)).toBe(true)
    expect(() => fileFilter({ ...nested(5) }, 'filters')).toThrow(/deeper than 5/)
  })
})
