import { textOfVector } from '#retrieval/index.ts'
import type { NewPage } from '#src/actors/web/store/page-store.ts'

export const [project, dimensions] = ['prj_a', 384]
/** Pages that are in one cluster of vectors. */
const clusterSize = 400
const syllables = 'ka lo mi ter sun ve ran dol pi gre sta ne quo bel far un'.split(' ')
const wordCount = 200_000

/** The words by Zipf's law: the n-th is n times rarer than the first. */
const wordAt = (n: number): string => {
  let word = ''
  for (let left = n + 1; left > 0; left >>= 4) word += syllables[left % 16]
  return word
}

/** Returns a sequence of numbers below 1 that follows from a number. */
const numbersFrom = (seed: number) => {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const wordsFrom = (next: () => number, count: number): string =>
  Array.from({ length: count }, () => wordAt(Math.floor(wordCount ** next()) - 1)).join(' ')

export const urlOf = (n: number): string => `https://h${n % 9_000}.example/p${n}`

const vectorOf = (n: number, version: number): Float32Array => {
  const [center, own] = [numbersFrom(1e6 + Math.floor(n / clusterSize)), numbersFrom(7 * n + version)]
  return Float32Array.from({ length: dimensions }, () => center() - 0.5 + 0.6 * (own() - 0.5))
}

/** A page of 1,000 characters, a passage with a vector and ten links, which follows from its number and version. */
export const numberedPage = (n: number, count: number, version = 1): NewPage => {
  const next = numbersFrom(1_000 * n + version)
  const text = Array.from({ length: 14 }, () => `${wordsFrom(next, 9)} of the.`)
    .join(' ')
    .slice(0, 1_000)
  const passage = { start: 0, end: text.length, heading: null, vector: textOfVector(vectorOf(n, version)) }
  const links = Array.from({ length: 10 }, () => ({ url: urlOf(Math.floor(next() * count)), nofollow: false }))
  return {
    ...{ url: urlOf(n), canonical_url: urlOf(n), title: wordsFrom(next, 3), description: '', text, follow: true },
    ...{ passages: [passage], links, content_hash: `${n} ${version}`, language: 'en', embedder: 'made' },
    ...{ published_at: null, modified_at: null, retrieved_at: 1, etag: null, last_modified: null },
  }
}

/** A query of three words, one of them rare, with the vector of a page where it is to have one. */
export const numberedQuery = (n: number, hasVector: boolean) => {
  const next = numbersFrom(3e9 + n)
  return {
    ...{ text: wordsFrom(next, 3), vector: hasVector ? vectorOf(Math.floor(next() * 1_000), 2) : null },
    ...{ embedder: hasVector ? 'made' : null, limit: 10, accepts: null, diverse: true, now: 1e12, filter: null },
  }
}
