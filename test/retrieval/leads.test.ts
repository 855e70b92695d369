import { describe, expect, it } from 'vitest'
import { leadsOf } from '#retrieval/leads.ts'

describe('the leads of pages', () => {
  it.each([
    ['short', '  Balance\n sheet ', 'Balance sheet'],
    ['long', `${'a'.repeat(99)}bc`, `${'a'.repeat(99)}b`],
    ['cut within a character', `${'a'.repeat(99)}😀`, `${'a'.repeat(99)}\ufffd`],
    ['preceded by a page number', '12 | Balance sheet', 'Balance sheet'],
    ['without words', '12 13', '12 13'],
    ['empty', ' ', ''],
    ['in Chinese', '第一章 資產負債表', '第一章 資產負債表'],
  ])('are one line of at most 100 characters: %s', (_, text, lead) => {
    expect(leadsOf([text])).toEqual([lead])
  })

  it('do not include a running header, whatever page number is in it', () => {
    const pages = ['Assets', 'Liabilities', 'Cash', 'Notes', 'Risks'].map(
      (title, at) => `${at} Report of 2023 ${title}`,
    )
    expect(leadsOf(pages)).toEqual(['Assets', 'Liabilities', 'Cash', 'Notes', 'Risks'])
  })

  it('include words with which few pages begin', () => {
    const own = Array.from({ length: 60 }, (_, at) => String.fromCodePoint(0x4e00 + at))
    const pages = own.map((letter, at) => (at < 5 ? `Report ${letter}` : `${letter} rows`))
    expect(leadsOf(pages)).toEqual(pages)
    expect(leadsOf(['Report one', 'Report two', 'Report three'])).toEqual(['Report one', 'Report two', 'Report three'])
  })

  it('are the header where a page has nothing else', () => {
    const pages = ['Report 1', 'Report 2', 'Report 3', 'Report 4']
    expect(leadsOf(pages)).toEqual(pages)
  })
})
