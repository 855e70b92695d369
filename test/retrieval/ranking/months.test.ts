import { describe, expect, it } from 'vitest'
import { monthNames } from '#retrieval/ranking/months.ts'

const languages = ['en', 'es', 'pt', 'fr', 'it', 'de', 'nl', 'tr', 'ru']
const styles: readonly Intl.DateTimeFormatOptions[] = [{ month: 'long' }, { month: 'long', day: 'numeric' }]

const namesIn = (language: string, style: Intl.DateTimeFormatOptions): readonly (readonly [string, number])[] => {
  const format = new Intl.DateTimeFormat(language, { ...style, timeZone: 'UTC' })
  return Array.from({ length: 12 }, (_, month) => {
    const parts = format.formatToParts(Date.UTC(2024, month, 1))
    return [parts.find(({ type }) => type === 'month')?.value.toLowerCase() ?? '', month] as const
  })
}

describe('the names of months', () => {
  it.each(languages)('include those of the platform, alone and in a date: %s', (language) => {
    for (const [name, month] of styles.flatMap((style) => namesIn(language, style)))
      expect([name, monthNames.get(name)]).toEqual([name, month])
  })

  it('include no others', () => {
    const known = languages.flatMap((language) => styles.flatMap((style) => namesIn(language, style)))
    expect(new Map(known).size).toBe(monthNames.size)
  })
})
