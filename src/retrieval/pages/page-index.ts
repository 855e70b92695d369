import { atOnce } from '#src/concurrency/run-in-slices.ts'
import { analysisOf, type Concept, conceptsOf, english } from '../analysis/analysis.ts'
import type { Language } from '../analysis/languages.ts'
import { PassageIndex } from '../passage-index.ts'
import { weightsOfPages } from '../ranking/weights.ts'
import { type SegmentBytes, type SegmentReader, wholeSegment } from '../segments/document-segment.ts'
import { hash53 } from '../segments/hash.ts'
import type { StoredFacts } from '../segments/schema.ts'
import { type IndexedDocument, SegmentedIndex } from '../segments/segmented-index.ts'
import type { FindablePage } from './findable-page.ts'
import type { PageCorpus } from './page-corpus.ts'
import { PageLinks } from './page-links.ts'
import { densityOf, type PageSignals, type RankedPage, ranked, shareOf } from './page-ranking.ts'
import { PageSegment } from './page-segment.ts'
import { PageSegmentWriter } from './page-segment-writer.ts'

/** What an index knows of a page that a filter can examine. */
export interface PageFacts extends Omit<StoredFacts, 'places'> {
  readonly id: string
}

/** A query for pages. */
export interface PageQuery {
  readonly text: string
  readonly vector: Float32Array | null
  readonly embedder: string | null
  readonly limit: number
  /** Filter of pages; null: every page. It is called for every page of the index. */
  readonly accepts: ((page: PageFacts) => boolean) | null
  /** Whether to lower further pages of the same host, for more varied results. */
  readonly diverse: boolean
  readonly now: number
  /** Ends the search, which then throws its reason. */
  readonly signal?: AbortSignal
}

/** A page found, with its best passage. */
export interface PageHit {
  readonly page: PageFacts
  /** Where the passage is in the text of the page. */
  readonly passage: { readonly start: number; readonly end: number }
  /** 0 to 1. */
  readonly score: number
  readonly signals: PageSignals & { readonly diversity: number }
}

/** What is known of a page: its facts, and the words of its title, as in `RankedPage` and as they are found. */
interface Details {
  readonly facts: StoredFacts & PageFacts
  readonly title: { readonly plain: string; readonly terms: ReadonlyMap<string, number> }
}

const detailsOf = (segment: PageSegment, at: number): Details => {
  const facts = { id: segment.ids[at] ?? '', ...segment.facts(at) }
  const plain = (facts.title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
  return { facts, title: { plain, terms: analysisOf(facts.title, english).counts } }
}

type Entry = IndexedDocument<PageSegment, Details>

interface Found extends RankedPage {
  readonly entry: Entry
  readonly passage: PageHit['passage']
}

/** Maximum number of passages that are grouped by page. */
const maxPassages = 200
const dayMs = 86_400_000
/** Half-life of a page's freshness. */
const halfLifeMs = 365 * dayMs
/** Minimum number of words for the stuffing check; a shorter page may legitimately consist of the query's words. */
const minWords = 40
/**
 * Share of a page's words that are words of the query, from which stuffing is assumed, rising to full. A short text
 * that answers a long question has a share of up to a half.
 */
const stuffing = { from: 0.45, to: 0.7 } as const

/** In-memory index of the pages of one corpus, searched by their passages and ranked by page-level signals. */
export class PageIndex {
  readonly #index: SegmentedIndex<PageSegment, Details>
  readonly #corpus: PageCorpus | null
  readonly #links = new PageLinks()
  /** Pages by the numbers in `#links`; null for one that was not added. */
  readonly #numbered: (Entry | null)[] = []

  /** @param corpus of which it has some pages; null: it has all. */
  constructor(corpus: PageCorpus | null = null) {
    this.#index = new SegmentedIndex(new PassageIndex('document', weightsOfPages, corpus))
    this.#corpus = corpus
  }

  get size(): number {
    return this.#index.size
  }

  /** Estimated memory in bytes. */
  get bytes(): number {
    return this.#index.bytes + this.#links.bytes
  }

  /** Language of passages whose own cannot be recognised. */
  get language(): Language {
    return this.#index.passages.language
  }

  /** Number of passages in memory, with those that were removed or replaced. */
  get extent(): number {
    return this.#index.extent
  }

  /** Number of the segments that it has read. */
  get segments(): number {
    return this.#index.segments
  }

  get ids(): Iterable<string> {
    return Array.from(this.#index.documents, ({ id }) => id)
  }

  /** Returns the version of a page; -1 when the index does not have it. */
  versionOf(id: string): number {
    return this.#index.versionOf(id)
  }

  /** Adds a page, or replaces the one with its id. */
  add(page: FindablePage): void {
    const writer = new PageSegmentWriter()
    writer.add({ ...page, version: page.version ?? this.versionOf(page.id) + 1 }, () => this.language)
    this.attach(atOnce(writer.finished()))
  }

  /** Reads a segment, and adds its pages. */
  async load(read: SegmentReader): Promise<void> {
    this.attach(await wholeSegment(read))
  }

  /** Whether it has this version of a page, or a newer one. */
  has({ id, version }: { readonly id: string; readonly version: number }): boolean {
    return this.versionOf(id) >= version
  }

  /** Adds the pages of a segment that are newer than those here, and removes those that it removes. */
  attach(bytes: SegmentBytes): void {
    const segment = new PageSegment(bytes)
    const first = this.#numbered.length
    this.#numbered.push(...this.#index.load(segment, { details: detailsOf }))
    const { keys, from } = segment.links
    this.#links.add({ keys, from: from.map((page) => first + page) })
  }

  remove(id: string): void {
    this.#index.remove(id)
  }

  /** Removes a page for good: a segment that still has it does not bring it back. */
  forget(id: string): void {
    this.#index.forget(id)
  }

  /** Finds pages for a query, best first. */
  async search(query: PageQuery): Promise<readonly PageHit[]> {
    const { text, vector, embedder, accepts, now, signal } = query
    const { hits } = await this.#index.passages.search({
      ...{ text, vector, now, limit: maxPassages, explain: true },
      ...(accepts !== null && { acceptsDocument: this.#ofPages(accepts) }),
      ...(embedder !== null && { embedder }),
      ...(signal !== undefined && { signal }),
    })
    const best = new Map<string, (typeof hits)[number]>()
    for (const hit of hits) {
      const page = pageOf(hit.id)
      if (!best.has(page)) best.set(page, hit)
    }
    const concepts = conceptsOf(text, ['en'])
    const pages = [...best].flatMap(([id, hit]) => this.#found(id, hit, { concepts, query }))
    return ranked(pages, query.limit, query.diverse).map(({ page: { entry, passage, signals }, score, diversity }) => ({
      ...{ page: entry.details.facts, passage, score, signals: { ...signals, diversity } },
    }))
  }

  #ofPages(accepts: (page: PageFacts) => boolean): (id: string) => boolean {
    return (id) => {
      const entry = this.#index.document(id)
      return entry !== undefined && accepts(entry.details.facts)
    }
  }

  #found(
    id: string,
    hit: { readonly id: string; readonly parts?: Readonly<Record<string, number>> },
    { concepts, query }: { readonly concepts: readonly Concept[]; readonly query: PageQuery },
  ): readonly Found[] {
    const entry = this.#index.document(id)
    const order = Number(hit.id.slice(hit.id.lastIndexOf(' ') + 1))
    if (entry === undefined || order >= entry.size) return []
    const { segment, at } = entry
    const { facts, title } = entry.details
    const { contentHash, firstSeenAt, publishedAt, places } = facts
    const { rank = 0, lexical = 0, vector } = hit.parts ?? {}
    const [words, host] = [segment.wordLengths[at] ?? 0, segment.host(at)]
    const counts = { get: (term: string) => segment.words.times(at, segment.terms.placeOf(term)) }
    const density = words < minWords ? 0 : densityOf(concepts, { counts, length: words })
    const stuffed = Math.min(1, Math.max(0, (density - stuffing.from) / (stuffing.to - stuffing.from)))
    const signals: PageSignals = {
      ...{ relevance: rank, lexical, semantic: vector ?? null, quality: segment.quality(at) },
      title: shareOf(concepts, title.terms),
      authority: this.#authority(facts.url, host),
      freshness: publishedAt === null ? 0 : 0.5 ** (Math.max(0, query.now - publishedAt) / halfLifeMs),
      spam: 1 - (1 - segment.spam(at)) * (1 - stuffed),
    }
    const passage = { start: places[2 * order] ?? 0, end: places[2 * order + 1] ?? 0 }
    const page = { id, host, title: title.plain, contentHash, signature: segment.signature(at), words, firstSeenAt }
    return [{ ...page, signals, entry, passage }]
  }

  /** Returns the authority, 0 to 1; a page reaches 1 when about 30 other hosts link to it. */
  #authority(url: string, own: string): number {
    const key = hash53(url)
    const hosts = this.#corpus?.hostsTo(key) ?? new Set<string>()
    this.#links.each(key, (number) => {
      const from = this.#numbered[number]
      if (from?.isRemoved === false) hosts.add(from.segment.host(from.at))
    })
    hosts.delete(own)
    return Math.min(1, Math.log2(1 + hosts.size) / 5)
  }
}

/** Returns the page's id in a passage id, which is the page's id and the passage's number. */
const pageOf = (passage: string): string => passage.slice(0, passage.lastIndexOf(' '))
