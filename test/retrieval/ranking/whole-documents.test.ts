import { describe, expect, it } from 'vitest'
import type { Passage } from '#retrieval/passage.ts'
import { PassageIndex, type Profile } from '#retrieval/passage-index.ts'
import { found, passage, question } from '../passages.ts'

const indexOf = (passages: readonly Passage[], profile: Profile = 'document'): PassageIndex => {
  const index = new PassageIndex(profile)
  for (const each of passages) index.add(each)
  return index
}

const parts = (group: string, texts: readonly string[]): readonly Passage[] =>
  texts.map((text, order) => passage(text, { id: `${group}${order}`, group, order }))

/** Texts on other subjects, so that the words of a question are rare. */
const others = Array.from({ length: 20 }, (_, n) =>
  passage(`Entry ${n} lists candles, ropes and barrels of that winter.`, { id: `other ${n}`, group: `other ${n}` }),
)

describe('a query to documents', () => {
  it('finds first what it mentions more than once', async () => {
    const index = indexOf([
      ...others,
      ...parts('titles', ['Descriptive titles are made up by hand in most offices.']),
      ...parts('indexing', ['Descriptive indexing is made up by hand in most offices.']),
    ])
    const repeating = 'Is indexing made up by hand? Who checks indexing, and what does indexing cost beside titles?'
    expect((await found(index, question(repeating)))[0]).toBe('indexing0')
    expect((await found(index, question('Do titles cost more than titles did, beside indexing?')))[0]).toBe('titles0')
  })

  it('finds the chunk of a short document about the subject before one that only mentions it', async () => {
    const own = 'The lift was measured at three speeds, and the results are given in a table.'
    const index = indexOf([
      ...others,
      ...parts('about', [own, 'Slender wings in supersonic flow: wings with sharp edges, and flow behind such wings.']),
      ...parts('else', [own, 'The bakery ordered flour, and the guests were given bread with salt.']),
    ])
    const hits = await found(index, question('lift of slender wings in supersonic flow', { limit: 3 }))
    expect(hits).toEqual(['about1', 'about0', 'else0'])
  })

  it('finds what repeats most of its words before what has each of them once', async () => {
    const index = indexOf([
      ...others,
      ...parts('once', ['Amber, resin, lacquer and copal: ropes, candles, barrels, winter.']),
      ...parts('twice', ['Amber, resin, lacquer: amber, resin, lacquer, winter, barrels.']),
    ])
    expect((await found(index, question('amber resin lacquer copal')))[0]).toBe('twice0')
  })

  it('weighs the title of a short document less than its text, which is about the title, and that of a long one more', async () => {
    const firstOf = async (rest: readonly string[]) => {
      const index = indexOf([
        ...others,
        ...parts('text', ['Otter figures were counted at the lake.']),
        ...parts('title', ['All figures were counted at the bridge.', ...rest]),
      ])
      index.nameGroup('title', 'Otter')
      for (const { group } of others) index.nameGroup(group ?? '', 'Heron')
      return (await found(index, question('otter figures')))[0]
    }
    const rest = Array.from({ length: 40 }, (_, n) => `Entry ${n} of the store lists candles and ropes.`)
    expect([await firstOf([]), await firstOf(rest)]).toEqual(['text0', 'title0'])
  })

  it('finds a chunk of a long document by its own words, whatever the rest is about', async () => {
    const rest = Array.from({ length: 12 }, (_, n) => `Chapter ${n} is about reeds: reeds and otters, otters in reeds.`)
    const index = indexOf([
      ...others,
      ...parts('book', ['Otters rest in reeds by day.', ...rest]),
      ...parts('note', ['Otters rest in reeds in March.']),
    ])
    expect((await found(index, question('Do otters rest in reeds in March?')))[0]).toBe('note0')
  })

  it('counts each word of it once among memories', async () => {
    const passages = ['The otter sleeps in reeds.', 'The heron sleeps in reeds.'].map((text) => passage(text))
    const scores = async (text: string) =>
      (await indexOf(passages, 'memory').search(question(text, { explain: true }))).hits.map(
        ({ parts }) => parts?.lexical,
      )
    expect(await scores('otter otter otter heron')).toEqual(await scores('otter heron'))
  })
})
