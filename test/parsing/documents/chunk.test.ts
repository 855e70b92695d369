import { describe, expect, it } from 'vitest'
import { type Chunk, chunksOf } from '#src/parsing/documents/chunk.ts'

const cut = (text: string, pages: Parameters<typeof chunksOf>[1] = []): readonly Chunk[] => [...chunksOf(text, pages)]
const words = (text: string, chunks: readonly Chunk[]) => chunks.map(({ start, end }) => text.slice(start, end))

/** Words that look like prose; the same seed gives the same words. */
const prose = (seed: number, sentences: number): string => {
  let state = seed + 1
  const next = (max: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % max
  }
  const sentence = () => `${Array.from({ length: 6 + next(14) }, () => `w${next(5000)}`).join(' ')}.`
  return Array.from({ length: sentences }, sentence).join(' ')
}

describe('a chunk', () => {
  it('are at most 1,200 characters long and never cross a page', () => {
    const blank = ' '.repeat(5000)
    const texts = [
      prose(1, 400),
      'x'.repeat(10_000),
      '字'.repeat(5_000),
      `a${blank}b`,
      `${'😀'.repeat(3001)}`,
      '# '.repeat(4000),
    ]
    for (const text of texts) {
      const pages = [0, 700, 701, 3000].map((start, index) => ({ page: index + 1, start }))
      for (const { start, end } of cut(text)) expect(end - start).toBeLessThanOrEqual(1200)
      const lined = `${prose(2, 30)}\n\n${prose(3, 30)}`
      const at = lined.indexOf('\n\n') + 2
      const paged = cut(lined, [
        { page: 1, start: 0 },
        { page: 2, start: at },
      ])
      expect(paged.every(({ start, end, page }) => (page === 1 ? end <= at : start >= at))).toBe(true)
      expect(cut(text, pages).length).toBeGreaterThan(0)
    }
  })

  it('shares the words of its text with the other chunks, each word once and in order', () => {
    const text = `# One\n\n${prose(4, 60)}\n\n## Two\n${prose(5, 3)}\n\n- a\n- b\n\n${prose(6, 90)}`
    const kept = words(text, cut(text)).join(' ').split(/\s+/)
    expect(kept).toEqual(text.split(/\s+/))
  })

  it('never splits a character of two code units', () => {
    const text = '😀'.repeat(3001)
    for (const part of words(text, cut(text))) expect(part.isWellFormed()).toBe(true)
  })

  it('has the headings above it, without comments in code', () => {
    const text = '# Guide\n\nIntro.\n\n## Setup\n\nRun it.\n\n```\n# not a heading\n```\n\n# Other\n\nMore.'
    expect(cut(text).map(({ heading }) => heading)).toEqual(['Guide', 'Guide › Setup', 'Other'])
  })

  it('has no heading from a line of code, whichever marker begins the code', () => {
    const text = '# Guide\n\n~~~\n```\n# not a heading\n~~~\n\n# Other\n\nMore.'
    expect(cut(text).map(({ heading }) => heading)).toEqual(['Guide', 'Other'])
  })

  it('has another id than an equal chunk elsewhere in the text', () => {
    const text = ['Same words.', 'Same words.', 'Same words.'].map((line) => `# A\n\n${line}`).join('\n\n')
    expect(new Set(cut(text).map(({ digest }) => digest)).size).toBe(3)
  })
})

describe('an edit', () => {
  const paragraphs = Array.from({ length: 120 }, (_, n) => prose(n, 1 + (n % 5)))
  const before = new Set(cut(paragraphs.join('\n\n')).map(({ digest }) => digest))
  const kept = (edited: readonly string[]): number => {
    const after = cut(edited.join('\n\n')).map(({ digest }) => digest)
    return after.filter((digest) => before.has(digest)).length / after.length
  }

  it.each([
    ['at the beginning', paragraphs.with(0, 'Something new.')],
    ['in the middle', paragraphs.with(60, prose(999, 4))],
    ['that adds a paragraph', paragraphs.toSpliced(30, 0, prose(1000, 2))],
    ['that removes one', paragraphs.toSpliced(30, 1)],
  ])('%s keeps the ids of at least nine of ten chunks', (_, edited) => {
    expect(kept(edited)).toBeGreaterThanOrEqual(0.9)
  })
})
