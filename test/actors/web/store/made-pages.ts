import { textOfVector } from '#retrieval/index.ts'
import type { NewPage } from '#src/actors/web/store/page-store.ts'

const syllables = 'ka lo mi ter sun ve ran dol pi gre sta ne quo bel far un'.split(' ')

/** Words, the first ones of which are frequent. */
const words = Array.from(
  { length: 400 },
  (_, n) => `${syllables[n % 16]}${syllables[(n >> 4) % 16]}${syllables[(n * 7) % 16]}`,
)

/** Returns a sequence of numbers below 1 that looks random. */
const numbersFrom = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export const urlOf = (n: number): string => `https://h${n % 7}.example/p${n}`

/** Returns a page with three passages, vectors and links, whose words follow from its number and version. */
export const madePage = (n: number, version = 1): NewPage => {
  const next = numbersFrom(n * 1_000 + version)
  const word = (): string => words[Math.floor(words.length * next() ** 2)] ?? ''
  const sentence = (): string => `The ${word()} of the ${word()} is near ${word()}, and so ${word()} was by ${word()}.`
  const text = Array.from({ length: 12 }, sentence).join(' ')
  const third = Math.floor(text.length / 3)
  const vector = (k: number) => textOfVector(Float32Array.from({ length: 8 }, (_, at) => Math.sin(n + at * (k + 1))))
  return {
    ...{ url: urlOf(n), canonical_url: urlOf(n), title: `${word()} ${n}`, description: '', text, follow: true },
    passages: [0, 1, 2].map((k) => ({ start: k * third, end: (k + 1) * third, heading: null, vector: vector(k) })),
    ...{ content_hash: `${n} ${version}`, language: 'en', embedder: 'test', published_at: null, modified_at: null },
    links: [1, 2, 3].map((k) => ({ url: urlOf(n + k), nofollow: false })),
    ...{ retrieved_at: 1, etag: null, last_modified: null },
  }
}

/** Queries with and without a vector. */
export const queries = words.slice(20, 30).map((word, n) => ({
  ...{
    text: `${word} ${words[n + 30]}`,
    embedder: null,
    limit: 20,
    accepts: null,
    diverse: true,
    now: 1e12,
  },
  vector: n % 2 === 0 ? null : Float32Array.from({ length: 8 }, (_, at) => Math.cos(n + at)),
}))
