import type { NewPage } from '#src/actors/web/store/page-store.ts'

const syllables = 'ka lo mi ter sun ve ran dol pi gre sta ne quo bel far un'.split(' ')

/** Words in which frequent ones are short. */
const words = Array.from({ length: 100_000 }, (_, n) => {
  let [word, left] = ['', n + 1]
  for (; left > 0; left >>= 4) word += syllables[left % 16]
  return word
})

let state = 7
const random = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
/** A word, more likely a short one. */
export const word = (): string => words[Math.floor(words.length ** random()) - 1] ?? ''
export const urlOf = (n: number): string => `https://h${n % 900}.example/p${n}`

/** A page of 4,000 characters, four passages and twenty links. */
export const madePage = (n: number, count: number): NewPage => {
  const text = Array.from({ length: 55 }, () => `${Array.from({ length: 9 }, word).join(' ')} of the.`).join(' ')
  const quarter = Math.ceil(text.length / 4)
  const passages = [0, 1, 2, 3].map((at) => ({
    start: at * quarter,
    end: (at + 1) * quarter,
    heading: null,
    vector: null,
  }))
  const links = Array.from({ length: 20 }, () => ({ url: urlOf(Math.floor(random() * count)), nofollow: false }))
  return {
    ...{ url: urlOf(n), canonical_url: urlOf(n), title: `${word()} ${word()}`, description: '', text, follow: true },
    ...{ passages, links, content_hash: `${n}`, language: 'en', embedder: null, published_at: null, modified_at: null },
    ...{ retrieved_at: 1, etag: null, last_modified: null },
  }
}
