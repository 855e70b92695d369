import { describe, expect, it } from 'vitest'
import { readsScripts } from '#retrieval/embedding/read-scripts.ts'

const letters = (first: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => String.fromCodePoint((first.codePointAt(0) ?? 0) + n))

/** Parts of words: every letter followed by every letter. */
const partsOf = (all: readonly string[]): readonly string[] => all.flatMap((one) => all.map((two) => `##${one}${two}`))

const [latin, cyrillic, devanagari, han] = [letters('a', 26), letters('а', 32), letters('क', 37), letters('一', 3_000)]

const wordPiece = (...entries: readonly (readonly string[])[]) => ({
  model: { type: 'WordPiece', vocab: Object.fromEntries(entries.flat().map((entry, n) => [entry, n])) },
})

const english = wordPiece(latin, partsOf(latin), cyrillic, devanagari, han.slice(0, 494))
const texts = {
  English: 'The harbour was deepened.',
  German: 'Größere Schiffe fahren ein.',
  Russian: 'Гавань была углублена.',
  Hindi: 'बंदरगाह को गहरा किया गया।',
  Chinese: '港口被加深了。',
  mixed: 'The harbour of Триест was deepened in 1901.',
  'numbers only': '1901, 42 %',
  empty: '',
}

describe('a model reads', () => {
  const readBy = (tokenizer: unknown): readonly string[] => {
    const reads = readsScripts(tokenizer)
    return Object.entries(texts).flatMap(([name, text]) => (reads(text) ? [name] : []))
  }
  const rest = ['mixed', 'numbers only', 'empty']

  it('the scripts of whose words its vocabulary has parts, and texts with some words of others', () => {
    expect(readBy(english)).toEqual(['English', 'German', ...rest])
    expect(readBy(wordPiece(latin, partsOf(latin), cyrillic, partsOf(cyrillic)))).toEqual([
      ...['English', 'German', 'Russian'],
      ...rest,
    ])
  })

  it('a script of which its vocabulary has thousands of characters', () => {
    expect(readBy(wordPiece(latin, partsOf(latin), han))).toEqual(['English', 'German', 'Chinese', ...rest])
  })

  it('the scripts of a vocabulary of pieces with scores', () => {
    const pieces = [...partsOf(latin), ...partsOf(devanagari)].map((part, n) => [part.replace('##', '▁'), -n])
    expect(readBy({ model: { type: 'Unigram', vocab: pieces } })).toEqual(['English', 'German', 'Hindi', ...rest])
  })

  it.each([
    ['of bytes', { ...english, pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'ByteLevel' }] } }],
    ['in a form of its own', { words: ['a'] }],
    ['that is missing', null],
  ])('every text, if it has a vocabulary %s', (_, tokenizer) => {
    expect(readBy(tokenizer)).toEqual(Object.keys(texts))
  })
})
