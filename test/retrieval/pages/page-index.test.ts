import { describe, expect, it } from 'vitest'
import type { FindablePage } from '#retrieval/pages/findable-page.ts'
import { PageIndex } from '#retrieval/pages/page-index.ts'

const now = Date.UTC(2026, 0, 1)
const dayMs = 86_400_000
const subjects = ['harbour', 'violin', 'glacier', 'bakery', 'telescope', 'vineyard', 'lantern', 'orchard'] as const
const words =
  'people build visit learn about describe often large small first later north south water stone season local public early'.split(
    ' ',
  )

/** Sentences about a subject, each with different words. */
const prose = (subject: string, seed: number, sentences = 14): string =>
  Array.from({ length: sentences }, (_, n) => {
    const pick = (k: number): string => words[(seed * 7 + n * 5 + k * 3) % words.length] ?? ''
    return `The ${pick(1)} ${n % 3 === 0 ? subject : pick(6)} of ${pick(2)} ${pick(3)} was ${pick(4)} by ${pick(5)} number ${seed * 31 + n}.`
  }).join(' ')

const page = (id: string, fields: Partial<FindablePage> = {}): FindablePage => {
  const text = fields.text ?? prose('harbour', 1)
  return {
    ...{ id, url: `https://${id}.example/`, title: id, description: 'About it', text, contentHash: `h-${id}` },
    ...{ publishedAt: null, firstSeenAt: now - 10 * dayMs, retrievedAt: now, links: [] },
    passages: [{ start: 0, end: text.length, heading: null, vector: null }],
    ...fields,
  }
}
const found = async (index: PageIndex, text: string, limit = 10) =>
  index.search({ text, vector: null, embedder: null, limit, accepts: () => true, diverse: true, now })
const ids = async (index: PageIndex, text: string): Promise<readonly string[]> =>
  (await found(index, text)).map(({ page: { id } }) => id)

/** Pages with search spam. */
const spamOf = (subject: string, n: number): readonly FindablePage[] => [
  page(`stuffed-${subject}-${n}`, { title: `${subject} ${subject} ${subject}`, text: `${subject} `.repeat(300) }),
  page(`listed-${subject}-${n}`, {
    title: subject,
    text: Array.from({ length: 80 }, (_, k) => `${subject} cheap best buy ${subject} online number ${k}`).join(' '),
  }),
  page(`offers-${subject}-${n}`, {
    title: `Best ${subject}`,
    text: `${prose(subject, 90 + n, 4)} ${'casino bonus viagra discount loans coupon jackpot '.repeat(12)} ${subject}.`,
  }),
  page(`copied-${subject}-${n}`, {
    title: subject,
    text: `${`Buy the best ${subject} here today, the ${subject} of all. `.repeat(40)}`,
  }),
]

describe('an index of pages', () => {
  it('finds a page by its title and its words', async () => {
    const index = new PageIndex()
    for (const [n, subject] of subjects.entries()) index.add(page(subject, { title: subject, text: prose(subject, n) }))
    for (const subject of subjects) expect((await ids(index, `visit the ${subject}`))[0]).toBe(subject)
  })

  it('ranks pages with words of the best pages higher, and excludes pages without a word of the question', async () => {
    const index = new PageIndex()
    for (let n = 0; n < 80; n += 1) index.add(page(`other-${n}`, { text: prose('bakery', n) }))
    for (const n of [0, 1, 2])
      index.add(page(`pier-${n}`, { text: `${prose('harbour', 60 + n)} The harbour pier, the harbour mooring.` }))
    index.add(page('also', { text: `${prose('lantern', 70)} A harbour, its pier and the mooring.` }))
    index.add(page('passing', { text: `${prose('lantern', 71)} A harbour, its lamps and the weather.` }))
    index.add(page('without', { text: `${prose('lantern', 72)} The pier and the mooring, the pier and the mooring.` }))
    const order = await ids(index, 'harbour')
    expect(order.indexOf('also')).toBeLessThan(order.indexOf('passing'))
    expect(order).toHaveLength(5)
  })

  it('keeps spam out of the first place, and to at most 0.2 pages per question among the first ten', async () => {
    const index = new PageIndex()
    for (const [n, subject] of subjects.entries()) {
      for (let k = 0; k < 12; k += 1)
        index.add(page(`${subject}-${k}`, { title: `${subject} ${k}`, text: prose(subject, n * 20 + k) }))
      for (let k = 0; k < 2; k += 1) for (const spam of spamOf(subject, k)) index.add(spam)
    }
    let planted = 0
    for (const subject of subjects) {
      const all = await ids(index, subject)
      const isSpam = (id: string): boolean => /^(?:stuffed|listed|offers|copied)-/.test(id)
      expect(isSpam(all[0] ?? '')).toBe(false)
      planted += all.filter(isSpam).length
    }
    expect(planted / subjects.length).toBeLessThanOrEqual(0.2)
  })

  it('returns one of several mirrors: the one with authority, otherwise the oldest', async () => {
    const index = new PageIndex()
    const text = prose('harbour', 1, 40)
    index.add(page('first', { text, contentHash: 'same', firstSeenAt: now - 100 * dayMs }))
    index.add(page('exact', { text, contentHash: 'same' }))
    index.add(page('near', { text: `${text} Copied here.`, contentHash: 'other' }))
    expect(await ids(index, 'harbour')).toEqual(['first'])
    for (let n = 0; n < 3; n += 1)
      index.add(page(`linking-${n}`, { text: prose('violin', 50 + n), links: ['https://exact.example/'] }))
    expect(await ids(index, 'harbour')).toEqual(['exact'])
  })

  describe('of a single shop', () => {
    const product = (name: string, price: string): string =>
      `${name}. Price ${price} EUR, in stock. All our lamps come with a dimmer, a cable of two metres and a bulb. We send it within two days, free of charge from 50 EUR on, and take it back for thirty days. Our shop in the harbour is open from Monday to Saturday.`
    const shop = (path: string, title: string, text: string) =>
      page(path, { url: `https://shop.example/${path}`, title, text })
    const products = Array.from({ length: 8 }, (_, n) => [`Lamp ${'ABCDEFGH'[n]}${n}00`, `${n + 2}9.00`] as const)

    it.each([
      ['with a title each', (name: string) => name],
      ['under one title', () => 'Lamps of the harbour'],
    ])('returns every product of a template %s', async (_titles, title) => {
      const index = new PageIndex()
      for (const [n, [name, price]] of products.entries()) index.add(shop(`p${n}`, title(name), product(name, price)))
      expect((await ids(index, 'lamp dimmer price')).toSorted()).toEqual(products.map((_, n) => `p${n}`))
      expect((await ids(index, 'lamp D300'))[0]).toBe('p3')
    })

    it('returns a product once whose page is copied to other addresses', async () => {
      const index = new PageIndex()
      const text = product('Lamp A000', '29.00')
      index.add(page('first', { url: 'https://shop.example/a', title: 'Lamp A000', text, firstSeenAt: 1 }))
      index.add(page('again', { url: 'https://shop.example/a?ref=x', title: 'Lamp A000', text }))
      index.add(page('copied', { title: 'Lamp A000', text: `${text} Found at the shop of others, who had it first.` }))
      expect(await ids(index, 'lamp A000')).toEqual(['first'])
    })
  })

  it('scores authority for links from other hosts, and freshness for newer pages', async () => {
    const index = new PageIndex()
    const [a, b] = [prose('harbour', 3, 20), prose('harbour', 4, 20)]
    index.add(page('plain', { title: 'x', text: a }))
    index.add(page('linked', { title: 'x', text: b }))
    for (let n = 0; n < 8; n += 1)
      index.add(page(`by-${n}`, { text: prose('violin', n), links: ['https://linked.example/'] }))
    expect(
      (await found(index, 'harbour')).find(({ page: { id } }) => id === 'linked')?.signals.authority,
    ).toBeGreaterThan(0.5)
    index.add(page('new', { title: 'x', text: prose('glacier', 3, 20), publishedAt: now - dayMs }))
    index.add(page('old', { title: 'x', text: prose('glacier', 4, 20), publishedAt: now - 3_000 * dayMs }))
    const [newer, older] = ['new', 'old'].map(
      async (id) => (await found(index, 'glacier')).find((hit) => hit.page.id === id)?.signals.freshness,
    )
    expect((await newer) ?? 0).toBeGreaterThan(((await older) ?? 0) + 0.5)
  })

  it('alternates between hosts', async () => {
    const index = new PageIndex()
    for (let n = 0; n < 8; n += 1)
      index.add(page(`big-${n}`, { url: `https://big.example/${n}`, text: prose('harbour', 10 + n) }))
    for (let n = 0; n < 3; n += 1)
      index.add(page(`small-${n}`, { url: `https://small-${n}.example/`, text: prose('harbour', 40 + n) }))
    const five = (await found(index, 'harbour', 5)).map(({ page: { id } }) => id)
    expect(five.filter((id) => id.startsWith('small')).length).toBeGreaterThanOrEqual(2)
  })

  it('removes a page together with its links', async () => {
    const index = new PageIndex()
    index.add(page('a', { links: ['https://b.example/'] }))
    index.add(page('b', { text: prose('violin', 2) }))
    index.remove('a')
    expect(await ids(index, 'harbour')).toEqual([])
    expect((await found(index, 'violin'))[0]?.signals.authority).toBe(0)
    expect(index.size).toBe(1)
  })
})
