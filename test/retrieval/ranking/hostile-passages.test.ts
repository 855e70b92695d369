import { describe, expect, it } from 'vitest'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { passage, question } from '../passages.ts'

const distinct = Array.from({ length: 10_000 }, (_, n) => `q${n.toString(36)}`).join(' ')

/** Texts that an attacker may use as a passage, group, speaker or id. */
const hostile: readonly (readonly [what: string, text: string])[] = [
  ['10 KB of one word', 'zebra '.repeat(1_700)],
  ['10 KB of one letter', 'z'.repeat(10_240)],
  ['ten thousand words', distinct],
  ['emoji alone', '😀👩‍👩‍👧‍👦🏳️‍🌈'.repeat(300)],
  ['text from right to left with its marks', '\u202eשלום\u202c العالم \u2067abc\u2069'],
  ['NUL', '\u0000zebra\u0000'],
  ['half of a pair', '\ud800 zebra \udc00'],
  ['numbers beyond all numbers', '1e400 -1e400 NaN Infinity 9'.repeat(30)],
  ['names of what objects have', '__proto__ constructor prototype toString hasOwnProperty valueOf'],
  ['marks on one letter', `z${'\u0301'.repeat(5_000)}`],
  ['characters of Han without an end', '河'.repeat(5_000)],
  ['white space', ' \n\t\u3000\ufeff '.repeat(500)],
  ['nothing', ''],
]

const fine = 'Ann keeps a zebra near the harbour'

describe('an index with hostile passages', () => {
  const index = new PassageIndex('memory')
  const add = (): void => {
    for (const [at, [what, text]] of hostile.entries()) {
      index.add(passage(text, { id: what, order: Number.NaN, at: Number.MAX_VALUE }))
      const name = ['__proto__', 'constructor', 'toString', '\u0000', ''][at % 5] ?? ''
      index.add(passage(text, { id: `${name} ${what}`, group: name, speaker: name, order: -1e308, at: -1e308 }))
      index.add(passage(text, { id: ['__proto__', 'constructor', 'hasOwnProperty'][at % 3] ?? '' }))
    }
    index.add(passage(fine))
  }

  it.each(hostile)('answers a question of %s with scores from 0 to 1', async (_, text) => {
    add()
    const { hits } = await index.search(question(text, { limit: 50, explain: true }))
    expect(hits.filter(({ score }) => !(score >= 0 && score <= 1))).toEqual([])
  })

  it('finds the passage that a question is about', async () => {
    add()
    const { hits } = await index.search(question('Where does Ann keep her zebra?', { threshold: 0.1 }))
    expect(hits[0]?.id).toBe(fine)
  })

  it('has the same answers after their removal as an index without them, also with concurrent searches', async () => {
    const clean = new PassageIndex('memory')
    const kept = Array.from({ length: 2_000 }, (_, n) => passage(`note ${n} of zebra ${n % 7} near river ${n % 31}`))
    for (const each of kept) clean.add(each)
    const mixed = new PassageIndex('memory')
    for (const each of kept) mixed.add(each)
    for (const n of kept.keys()) {
      const [what = '', text = ''] = hostile[n % hostile.length] ?? []
      if (n % 40 !== 0) continue
      mixed.add(passage(text, { id: `hostile ${what} ${n}`, group: '__proto__', speaker: 'constructor' }))
    }
    const during = Array.from({ length: 20 }, (_, n) => mixed.search(question(`zebra ${n} near the river`)))
    for (const n of kept.keys()) {
      if (n % 40 !== 0) continue
      mixed.remove(`hostile ${hostile[n % hostile.length]?.[0]} ${n}`)
      if (n % 400 === 0) await new Promise(setImmediate)
    }
    await Promise.all(during)
    for (let n = 0; n < 20; n++) {
      const posed = question(`note ${n} of zebra near river ${n}`, { explain: true })
      expect(await mixed.search(posed)).toEqual(await clean.search(posed))
    }
  })
})
