import { analysisOf, english } from '../analysis/analysis.ts'
import type { Language } from '../analysis/languages.ts'
import { textColumn } from '../segments/columns.ts'
import type { SegmentBytes } from '../segments/document-segment.ts'
import { DocumentSegmentWriter, type MoreColumns } from '../segments/document-segment-writer.ts'
import { hash53 } from '../segments/hash.ts'
import { TermListsWriter } from '../segments/term-lists.ts'
import type { FindablePage } from './findable-page.ts'
import { joinedRuns, type LinkRun, linkRun } from './page-links.ts'
import { aboveOf } from './page-passages.ts'
import { type PageQuality, qualityOf, signatureOf } from './page-quality.ts'
import type { PageSegment } from './page-segment.ts'

/** Returns the host of an address, without `www.`. */
const hostOf = (url: string): string => URL.parse(url)?.hostname.replace(/^www\./, '') ?? ''

/** Makes segments: of pages, and of those of other segments. */
export class PageSegmentWriter {
  readonly written = new DocumentSegmentWriter(true)
  readonly #words = new TermListsWriter(this.written.numbers)
  readonly #wordLengths: number[] = []
  readonly #hosts = new Map<string, number>()
  readonly #hostOf: number[] = []
  readonly #signatures: Uint32Array[] = []
  readonly #judged: number[] = []
  readonly #links: (readonly [number, number])[] = []
  readonly #runs: LinkRun[] = []

  /** Adds a page. @param others language of passages whose own cannot be recognised. */
  add(page: FindablePage, others: () => Language): void {
    const { title, text, description, links, url, id, version = 0 } = page
    const words = analysisOf(text, english)
    const { contentHash, publishedAt, firstSeenAt, language = null } = page
    const places = page.passages.flatMap(({ start, end }) => [start, end])
    const facts = { url, title, contentHash, publishedAt, firstSeenAt, language, places }
    const host = hostOf(url)
    // links within a host do not count
    for (const link of links) if (hostOf(link) !== host) this.#links.push([hash53(link), this.written.documents])
    this.written.begin({ id, version, facts: JSON.stringify(facts) })
    this.#words.add(words.counts)
    const judged = qualityOf({ title, text, description, links: links.length })
    this.#describe({ host, words: words.length, signature: signatureOf(text), ...judged })
    for (const [order, { start, end, heading, vector }] of page.passages.entries()) {
      const own = text.slice(start, end)
      const above = aboveOf(title, { heading }, order)
      this.written.add({ ...analysisOf(above === '' ? own : `${above}\n${own}`, others), vector })
    }
  }

  /** Adds the pages of a segment that are still to be found; yields after each page. */
  *copy(segment: PageSegment, isKept: (page: number) => boolean): Generator<void, void, void> {
    const { known, documents } = yield* this.written.copy(segment, isKept)
    const { terms, words } = segment
    for (const [page, moved] of documents.entries()) {
      if (moved === -1) continue
      this.#words.copy(words, page, { terms, known })
      this.#describe(describedIn(segment, page))
      yield
    }
    this.#runs.push(keptLinks(segment.links, documents))
    yield
  }

  /** Adds one page of a segment, without its links. */
  take(segment: PageSegment, page: number): void {
    this.written.take(segment, page)
    this.#words.add(segment.words.countsOf(page, segment.terms))
    this.#describe(describedIn(segment, page))
  }

  /** Returns the segment; yields every few milliseconds. */
  finished(): Generator<void, SegmentBytes, void> {
    return this.written.finished((places) => this.#columns(places))
  }

  *#columns(places: Int32Array): Generator<void, MoreColumns, void> {
    const links = yield* this.#allLinks()
    return {
      documents: {
        'word lengths': Int32Array.from(this.#wordLengths),
        ...{ 'link keys': links.keys, 'link pages': links.from },
        ...{ hosts: textColumn([...this.#hosts.keys()]), 'host of': Int32Array.from(this.#hostOf) },
        signatures: together(this.#signatures),
        judged: Float64Array.from(this.#judged),
      },
      lists: yield* this.#words.columns('words', places),
    }
  }

  #describe({ host, words, signature, quality, spam }: Described): void {
    const number = this.#hosts.get(host) ?? this.#hosts.size
    this.#hosts.set(host, number)
    this.#hostOf.push(number)
    this.#wordLengths.push(words)
    this.#signatures.push(signature)
    this.#judged.push(quality, spam)
  }

  *#allLinks(): Generator<void, LinkRun, void> {
    let runs: readonly LinkRun[] = [linkRun(this.#links), ...this.#runs].toSorted(
      (a, b) => a.keys.length - b.keys.length,
    )
    while (runs.length > 1) {
      const [one, other, ...rest] = runs
      if (one === undefined || other === undefined) break
      runs = [...rest, joinedRuns(one, other)].toSorted((a, b) => a.keys.length - b.keys.length)
      yield
    }
    return runs[0] ?? linkRun([])
  }
}

interface Described extends PageQuality {
  readonly host: string
  /** Number of the words of the page. */
  readonly words: number
  readonly signature: Uint32Array
}

const describedIn = (segment: PageSegment, page: number): Described => ({
  ...{ host: segment.host(page), words: segment.wordLengths[page] ?? 0, signature: segment.signature(page) },
  ...{ quality: segment.quality(page), spam: segment.spam(page) },
})

/** Returns the links of the pages that were moved, with their new numbers. */
const keptLinks = ({ keys, from }: LinkRun, moved: Int32Array): LinkRun => {
  const [kept, pages] = [new Float64Array(keys.length), new Int32Array(keys.length)]
  let used = 0
  for (let at = 0; at < keys.length; at++) {
    const page = moved[from[at] ?? 0] ?? -1
    if (page === -1) continue
    kept[used] = keys[at] ?? 0
    pages[used++] = page
  }
  return { keys: kept.subarray(0, used), from: pages.subarray(0, used) }
}

const together = (parts: readonly Uint32Array[]): Uint32Array => {
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
