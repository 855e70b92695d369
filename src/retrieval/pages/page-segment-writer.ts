import { analysisOf, english } from '../analysis/analysis.ts'
import type { Language } from '../analysis/languages.ts'
import { packed, textColumn } from '../segments/columns.ts'
import { hash53 } from '../segments/hash.ts'
import type { Removals } from '../segments/schema.ts'
import { TermListsWriter, TermNumbers } from '../segments/term-lists.ts'
import { type ShortVector, shortVectorOf } from '../vector-table.ts'
import type { FindablePage } from './findable-page.ts'
import { joinedRuns, type LinkRun, linkRun } from './page-links.ts'
import { aboveOf } from './page-passages.ts'
import { qualityOf, signatureOf } from './page-quality.ts'
import { type PageSegment, type SegmentBytes, type SegmentPassages, segmentLanguages } from './page-segment.ts'

/** A segment with both of its parts. */
export interface WholeSegment {
  readonly pages: PageSegment
  readonly passages: SegmentPassages
}

/** Number of passages from which a segment has the passages of each term: smaller ones are read faster without. */
const minInverted = 1_024

/** Returns the host of an address, without `www.`. */
const hostOf = (url: string): string => URL.parse(url)?.hostname.replace(/^www\./, '') ?? ''

/** Makes segments: of pages, and of those of other segments. */
export class PageSegmentWriter {
  readonly #numbers = new TermNumbers()
  readonly #words = new TermListsWriter(this.#numbers)
  readonly #terms = new TermListsWriter(this.#numbers)
  readonly #ids: string[] = []
  readonly #versions: number[] = []
  readonly #wordLengths: number[] = []
  readonly #starts: number[] = [0]
  readonly #hosts = new Map<string, number>()
  readonly #hostOf: number[] = []
  readonly #signatures: Uint32Array[] = []
  readonly #judged: number[] = []
  readonly #facts: Uint8Array[] = []
  readonly #factStarts: number[] = [0]
  readonly #links: (readonly [number, number])[] = []
  readonly #runs: LinkRun[] = []
  readonly #lengths: number[] = []
  readonly #languages: number[] = []
  readonly #units: number[] = []
  readonly #vectors: Int8Array[] = []
  readonly #vectorStarts: number[] = [0]
  readonly removals: [id: string, at: number][] = []
  /** Number of passages by their language. */
  readonly languages: Partial<Record<Language, number>> = {}

  get size(): number {
    return this.#ids.length
  }

  /** Adds a page. @param others language of passages whose own cannot be recognised. */
  add(page: FindablePage, others: () => Language): void {
    const { title, text, description, links, url } = page
    const words = analysisOf(text, english)
    const { contentHash, publishedAt, firstSeenAt, language = null } = page
    const places = page.passages.flatMap(({ start, end }) => [start, end])
    const facts = { url, title, contentHash, publishedAt, firstSeenAt, language, places }
    this.#begin(page.id, page.version ?? 0, hostOf(url))
    this.#words.add(words.counts)
    this.#describe(words.length, signatureOf(text), qualityOf({ title, text, description, links: links.length }))
    this.#keep(Buffer.from(JSON.stringify(facts)))
    for (const link of links) this.#links.push([hash53(link), this.size - 1])
    for (const [order, { start, end, heading, vector }] of page.passages.entries()) {
      const own = text.slice(start, end)
      const above = aboveOf(title, { heading }, order)
      const analysis = analysisOf(above === '' ? own : `${above}\n${own}`, others)
      this.#terms.add(analysis.counts)
      this.#end(analysis.length, analysis.language, vector === null ? null : shortVectorOf(vector))
    }
    this.#starts.push(this.#lengths.length)
  }

  /** Adds the pages of a segment that are still to be found; yields after each page. */
  *copy({ pages, passages }: WholeSegment, isKept: (page: number) => boolean): Generator<void, void, void> {
    const known = new Int32Array(pages.terms.length).fill(-1)
    const moved = new Int32Array(pages.ids.length).fill(-1)
    for (const [page, id] of pages.ids.entries()) {
      if (!isKept(page)) continue
      moved[page] = this.size
      this.#begin(id, pages.versions[page] ?? 0, pages.host(page))
      this.#words.copy(pages.words, page, known)
      this.#describe(pages.wordLengths[page] ?? 0, pages.signature(page), {
        quality: pages.quality(page),
        spam: pages.spam(page),
      })
      this.#keep(pages.factBytes(page))
      for (let passage = pages.starts[page] ?? 0; passage < (pages.starts[page + 1] ?? 0); passage++) {
        this.#terms.copy(passages.terms.lists, passage, known)
        this.#end(passages.lengths[passage] ?? 0, passages.language(passage), passages.vector(passage))
      }
      this.#starts.push(this.#lengths.length)
      yield
    }
    this.#runs.push(keptLinks(pages.links, moved))
    yield
  }

  /** Returns the segment; yields every few milliseconds. */
  *finished(): Generator<void, SegmentBytes, void> {
    const { terms, places } = yield* this.#numbers.ordered()
    const words = yield* this.#words.columns('words', places)
    const lists = yield* this.#terms.columns('terms', places)
    const inverted = this.#lengths.length < minInverted ? {} : yield* this.#terms.inverted(places)
    const links = yield* this.#allLinks()
    const pages = packed({
      ...{
        ids: textColumn(this.#ids),
        versions: Float64Array.from(this.#versions),
        terms: textColumn(terms),
        ...words,
      },
      ...{ 'word lengths': Int32Array.from(this.#wordLengths), starts: Int32Array.from(this.#starts) },
      removals: Buffer.from(JSON.stringify(this.removals satisfies Removals)),
      ...{ 'link keys': links.keys, 'link pages': links.from },
      ...{ hosts: textColumn([...this.#hosts.keys()]), 'host of': Int32Array.from(this.#hostOf) },
      signatures: together(this.#signatures, (length) => new Uint32Array(length)),
      judged: Float64Array.from(this.#judged),
      'fact starts': Int32Array.from(this.#factStarts),
      facts: together(this.#facts, (length) => new Uint8Array(length)),
    })
    yield
    const passages = packed({
      ...lists,
      ...inverted,
      ...{ lengths: Int32Array.from(this.#lengths), languages: Uint8Array.from(this.#languages) },
      ...{ units: Float32Array.from(this.#units), 'vector starts': Int32Array.from(this.#vectorStarts) },
      vectors: together(this.#vectors, (length) => new Int8Array(length)),
    })
    return { pages, passages }
  }

  #begin(id: string, version: number, host: string): void {
    this.#ids.push(id)
    this.#versions.push(version)
    const number = this.#hosts.get(host) ?? this.#hosts.size
    this.#hosts.set(host, number)
    this.#hostOf.push(number)
  }

  #describe(
    words: number,
    signature: Uint32Array,
    { quality, spam }: { readonly quality: number; readonly spam: number },
  ): void {
    this.#wordLengths.push(words)
    this.#signatures.push(signature)
    this.#judged.push(quality, spam)
  }

  #keep(facts: Uint8Array): void {
    this.#facts.push(facts)
    this.#factStarts.push((this.#factStarts.at(-1) ?? 0) + facts.length)
  }

  #end(length: number, language: Language | null, vector: ShortVector | null): void {
    this.#lengths.push(length)
    this.#languages.push(language === null ? 0 : segmentLanguages.indexOf(language) + 1)
    if (language !== null) this.languages[language] = (this.languages[language] ?? 0) + 1
    this.#units.push(vector?.unit ?? 0)
    if (vector !== null) this.#vectors.push(vector.numbers)
    this.#vectorStarts.push((this.#vectorStarts.at(-1) ?? 0) + (vector?.numbers.length ?? 0))
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

const together = <T extends Int8Array | Uint8Array | Uint32Array>(
  parts: readonly T[],
  create: (length: number) => T,
): T => {
  const all = create(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
