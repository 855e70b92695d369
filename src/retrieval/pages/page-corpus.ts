import { conceptsOf } from '../analysis/analysis.ts'
import { type Language, segmentLanguages } from '../analysis/languages.ts'
import { spokenIn } from '../passage-index.ts'
import type { Corpus } from '../ranking/lexicon.ts'
import { Columns, packed, textColumn } from '../segments/columns.ts'
import { hash32 } from '../segments/hash.ts'
import type { PageSegment } from './page-segment.ts'

/** Number of words of a question by which pages are found, the rarest. */
const maxWords = 64

/** Returns what has to be known of all pages of a segment to rank some of them: a tenth of its bytes. */
export const summaryOf = (segment: PageSegment): Uint8Array => {
  const { lengths, terms, inverted, links } = segment
  const languages = new Int32Array(segmentLanguages.length)
  for (let passage = 0; passage < lengths.length; passage++) {
    const language = segment.language(passage)
    if (language !== null)
      languages[segmentLanguages.indexOf(language)] = (languages[segmentLanguages.indexOf(language)] ?? 0) + 1
  }
  const hosts = new Map<string, number>()
  const ofPages = new Map<number, number>()
  const from = links.from.map((page) => {
    const known = ofPages.get(page)
    if (known !== undefined) return known
    const host = segment.host(page)
    const place = hosts.get(host) ?? hosts.size
    hosts.set(host, place)
    ofPages.set(page, place)
    return place
  })
  return packed({
    totals: Float64Array.of(
      lengths.length,
      lengths.reduce((sum, length) => sum + length, 0),
    ),
    ...{ languages, hashes: terms.hashes, counts: inverted.counts },
    ...{ 'link keys': links.keys, 'link hosts': from, hosts: textColumn([...hosts.keys()]) },
  })
}

/** The summary of a segment, which is read where it lies. */
class Summary {
  readonly passages: number
  readonly words: number
  readonly languages: Int32Array
  readonly bytes: number
  readonly #hashes: Uint32Array
  readonly #counts: Int32Array
  readonly #keys: Float64Array
  readonly #from: Int32Array
  readonly #hosts: readonly string[]

  constructor(bytes: Uint8Array) {
    const columns = new Columns(bytes)
    const [passages = 0, words = 0] = columns.doubles('totals')
    this.passages = passages
    this.words = words
    this.languages = columns.integers('languages')
    this.bytes = bytes.length
    this.#hashes = columns.words('hashes')
    this.#counts = columns.integers('counts')
    this.#keys = columns.doubles('link keys')
    this.#from = columns.integers('link hosts')
    this.#hosts = columns.items('hosts')
  }

  /** Words with one hash count together: of 100,000 words two or three. */
  frequency(hash: number): number {
    let count = 0
    for (let at = placeIn(this.#hashes, hash); this.#hashes[at] === hash; at++) count += this.#counts[at] ?? 0
    return count
  }

  addHosts(key: number, hosts: Set<string>): void {
    for (let at = placeIn(this.#keys, key); this.#keys[at] === key; at++)
      hosts.add(this.#hosts[this.#from[at] ?? 0] ?? '')
  }
}

/** Summaries that were read, since most of a corpus stays when it changes. */
const read = new WeakMap<Uint8Array, Summary>()

/** Returns the place of the first number that is not below another one. */
const placeIn = (ascending: Uint32Array | Float64Array, number: number): number => {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * What is known of all pages of a corpus, of which an index has some. Pages that were removed or replaced count until
 * their segments are written anew.
 */
export class PageCorpus implements Corpus {
  readonly size: number
  readonly averageLength: number
  readonly languages: ReadonlyMap<Language, number>
  /** Memory in bytes. */
  readonly bytes: number
  readonly #summaries: readonly Summary[]

  /** @throws {UnknownFormat} */
  constructor(summaries: Iterable<Uint8Array>) {
    const all = Array.from(summaries, (bytes) => {
      const summary = read.get(bytes) ?? new Summary(bytes)
      read.set(bytes, summary)
      return summary
    })
    const sum = (count: (summary: Summary) => number): number => all.reduce((total, each) => total + count(each), 0)
    this.#summaries = all
    this.size = sum(({ passages }) => passages)
    this.averageLength = sum(({ words }) => words) / Math.max(1, this.size)
    this.bytes = sum(({ bytes }) => bytes)
    const counts = segmentLanguages.map(
      (language, at) => [language, sum(({ languages }) => languages[at] ?? 0)] as const,
    )
    this.languages = new Map(counts.filter(([, count]) => count > 0))
  }

  frequency(word: string): number {
    const hash = hash32(word)
    return this.#summaries.reduce((total, summary) => total + summary.frequency(hash), 0)
  }

  /** Returns the hosts of the pages that link to an address, by its hash. */
  hostsTo(key: number): Set<string> {
    const hosts = new Set<string>()
    for (const summary of this.#summaries) summary.addHosts(key, hosts)
    return hosts
  }

  /** Returns the words by which pages for a question are found. */
  wordsOf(text: string): readonly string[] {
    const words = new Set(conceptsOf(text, spokenIn(this.languages)).flatMap(({ terms }) => terms))
    return [...words]
      .map((word) => ({ word, count: this.frequency(word) }))
      .filter(({ count }) => count > 0)
      .toSorted((a, b) => a.count - b.count)
      .slice(0, maxWords)
      .map(({ word }) => word)
  }
}
