import { describe, expect, it } from 'vitest'
import { decisionFindings, decisionPages } from '#scripts/check/decision-pages.ts'

const page = (number: string, text = `# ${number} A title\n\nArea: storage\n`) => ({
  path: `specs/decisions/${number}-a-title.md`,
  text,
})
const merged = page('0002', '# 0002 Rows\n\nArea: storage\n\n## Lists (0003, 0004)\n\nText.\n\nSuperseded: 0005\n')

describe('pages of decisions', () => {
  const messages = (pages: readonly ReturnType<typeof page>[], text = '', path = 'src/a.ts') =>
    decisionFindings(decisionPages(pages), [{ path, text }]).map(({ message }) => message)

  it('are read with the earlier pages that became a part of them', () => {
    expect(decisionPages([merged, { path: 'specs/decisions/README.md', text: '# Decisions' }])).toMatchObject([
      {
        number: '0002',
        title: 'Rows',
        area: 'storage',
        status: 'holds',
        earlier: [
          { number: '0003', section: 'Lists' },
          { number: '0004', section: 'Lists' },
          { number: '0005', section: null },
        ],
      },
    ])
  })

  it.each([
    ['a page', 'See specs/decisions/0002-a-title.md.'],
    ['a section', '// specs/decisions/0004'],
    ['what a page superseded', '[0005](specs/decisions/0005-old.md)'],
  ])('may be cited by the number of %s', (_, text) => {
    expect(messages([merged], text)).toEqual([])
  })

  it.each([
    ['a comment', 'src/a.ts', '// specs/decisions/0009'],
    ['a link', 'docs/a.md', '[0009](../specs/decisions/0009-x.md)'],
    ['the prose of a decision', 'specs/decisions/0002-a-title.md', 'As 0009 says.'],
  ])('are cited by no unknown number in %s', (_, path, text) => {
    expect(messages([merged], text, path)).toEqual(['no decision has the number 0009'])
  })

  it('are not mistaken for figures', () => {
    expect(messages([merged], 'From 0.0009 to 0,0009 and `0009`', 'specs/decisions/0002-a-title.md')).toEqual([])
  })

  it('have a title, an area and a number of their own', () => {
    expect(messages([page('0001', 'Text.')])).toEqual([
      'a decision begins with `# <its number> <its title>`',
      'a decision has a line `Area: …` below its title',
    ])
    expect(messages([merged, page('0003')])).toEqual(['two pages claim the number 0003'])
  })

  it('are at most 90', () => {
    const pages = (count: number) => Array.from({ length: count }, (_, at) => page(String(at + 100).padStart(4, '0')))
    expect(messages(pages(90))).toEqual([])
    expect(messages(pages(91))).toEqual(['has 91 pages; merge those about one thing'])
  })
})
