import { analysisOf, type Concept, conceptsOf, english } from '../analysis/analysis.ts'
import type { Language } from '../analysis/languages.ts'
import { PassageIndex, type StoredPassage } from '../passage-index.ts'
import { weightsOfPages } from '../ranking/weights.ts'
import { hash53 } from '../segments/hash.ts'
import type { StoredFacts } from '../segments/schema.ts'
import type { FindablePage } from './findable-page.ts'
import { PageLinks } from './page-links.ts'
import { densityOf, type PageSignals, type RankedPage, ranked, shareOf } from './page-ranking.ts'
import { PageSegment, type SegmentBytes, type SegmentPassages } from './page-segment.ts'
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
  /** Filter of pages; null: every page. It may be called for every passage of the index. */
  readonly accepts: ((page: PageFacts) => boolean) | null
  /** Whether to lower further pages of the same host, for more varied results. */
  readonly diverse: boolean
  readonly now: number
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

/** A page of a segment. */
class Entry {
  readonly id: string
  readonly segment: PageSegment
  readonly at: number
  /** Its number in the index. */
  readonly number: number
  /** Slots of its passages in the index of passages. */
  readonly slots: Int32Array
  #facts: (StoredFacts & PageFacts) | null = null
  #titled: { readonly plain: string; readonly terms: ReadonlyMap<string, number> } | null = null

  constructor(segment: PageSegment, at: number, number: number) {
    this.segment = segment
    this.at = at
    this.number = number
    this.id = segment.ids[at] ?? ''
    this.slots = new Int32Array((segment.starts[at + 1] ?? 0) - (segment.starts[at] ?? 0))
  }

  /** Its share of the bytes of its segment. */
  get bytes(): number {
    return bytesAPage + this.segment.bytes / this.segment.ids.length
  }

  get version(): number {
    return this.segment.versions[this.at] ?? 0
  }

  /** Read when a search first needs them. */
  get facts(): StoredFacts & PageFacts {
    this.#facts ??= { id: this.id, ...this.segment.facts(this.at) }
    return this.#facts
  }

  /** The words of its title, as in `RankedPage` and as they are found. */
  get titled(): { readonly plain: string; readonly terms: ReadonlyMap<string, number> } {
    const { title } = this.facts
    this.#titled ??= {
      plain: (title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' '),
      terms: analysisOf(title, english).counts,
    }
    return this.#titled
  }
}

interface Found extends RankedPage {
  readonly entry: Entry
  readonly passage: PageHit['passage']
}

/** Maximum number of passages that are grouped by page. */
const maxPassages = 200
const dayMs = 86_400_000
/** Half-life of a page's freshness. */
const halfLifeMs = 365 * dayMs
const bytesAPage = 1_000
/** Minimum number of words for the stuffing check; a shorter page may legitimately consist of the query's words. */
const minWords = 40
/**
 * Share of a page's words that are words of the query, from which stuffing is assumed, rising to full. A short text
 * that answers a long question has a share of up to a half.
 */
const stuffing = { from: 0.45, to: 0.7 } as const

/** In-memory index of the pages of one corpus, searched by their passages and ranked by page-level signals. */
export class PageIndex {
  readonly #passages = new PassageIndex('document', weightsOfPages)
  readonly #pages = new Map<string, Entry>()
  readonly #links = new PageLinks()
  /** Pages by the numbers in `#links`; null for one that is no longer here. */
  readonly #numbered: (Entry | null)[] = []
  readonly #removed = new Set<string>()
  #pageBytes = 0

  get size(): number {
    return this.#pages.size
  }

  /** Estimated memory in bytes. */
  get bytes(): number {
    return this.#passages.bytes + this.#pageBytes + this.#links.bytes
  }

  /** Language of passages whose own cannot be recognised. */
  get language(): Language {
    return this.#passages.language
  }

  get ids(): Iterable<string> {
    return this.#pages.keys()
  }

  /** Returns the version of a page; -1 when the index does not have it. */
  versionOf(id: string): number {
    return this.#pages.get(id)?.version ?? -1
  }

  /** Adds a page, or replaces the one with its id. */
  add(page: FindablePage): void {
    const writer = new PageSegmentWriter()
    writer.add({ ...page, version: page.version ?? this.versionOf(page.id) + 1 }, () => this.language)
    const finishing = writer.finished()
    for (let next = finishing.next(); ; next = finishing.next()) {
      if (next.done !== true) continue
      for (const _ of this.load(next.value));
      return
    }
  }

  /** Adds the pages of a segment that are newer than those here, and removes those that it removes. Yields often. */
  *load({ pages: bytes, passages: others }: SegmentBytes): Generator<void, void, void> {
    const segment = new PageSegment(bytes)
    const passages = segment.passagesIn(others)
    yield
    const source = this.#passages.source(passages.terms, passages.lengths.length)
    const first = this.#numbered.length
    for (const [id] of segment.removals) {
      this.remove(id)
      this.#removed.add(id)
    }
    for (const [at, id] of segment.ids.entries()) {
      const isKept = (segment.versions[at] ?? 0) > this.versionOf(id) && !this.#removed.has(id)
      const entry = isKept ? new Entry(segment, at, first + at) : null
      this.#numbered.push(entry)
      if (entry !== null) this.#put(entry)
      for (let number = segment.starts[at] ?? 0; number < (segment.starts[at + 1] ?? 0); number++) {
        if (entry === null) this.#passages.skipStored(number, source)
        else {
          const slot = this.#passages.addStored(storedPassage(entry, passages, number), source)
          entry.slots[number - (segment.starts[at] ?? 0)] = slot
        }
      }
      yield
    }
    const { keys, from } = segment.links
    this.#links.add({ keys, from: from.map((page) => first + page) })
    yield
  }

  #put(entry: Entry): void {
    this.remove(entry.id)
    this.#pages.set(entry.id, entry)
    this.#pageBytes += entry.bytes
  }

  remove(id: string): void {
    const entry = this.#pages.get(id)
    if (entry === undefined) return
    this.#numbered[entry.number] = null
    this.#pages.delete(id)
    this.#pageBytes -= entry.bytes
    for (const slot of entry.slots) this.#passages.removeSlot(slot)
  }

  /** Removes a page for good: a segment that still has it does not bring it back. */
  forget(id: string): void {
    this.remove(id)
    this.#removed.add(id)
  }

  /** Finds pages for a query, best first. */
  async search(query: PageQuery): Promise<readonly PageHit[]> {
    const { text, vector, embedder, accepts, now } = query
    const { hits } = await this.#passages.search({
      ...{ text, vector, now, limit: maxPassages, explain: true },
      ...(accepts !== null && { accepts: this.#ofPassages(accepts) }),
      ...(embedder !== null && { embedder }),
    })
    const best = new Map<string, (typeof hits)[number]>()
    for (const hit of hits) {
      const page = pageOf(hit.id)
      if (!best.has(page)) best.set(page, hit)
    }
    const concepts = conceptsOf(text, ['en'])
    const pages = [...best].flatMap(([id, hit]) => this.#found(id, hit, { concepts, query }))
    return ranked(pages, query.limit, query.diverse).map(({ page: { entry, passage, signals }, score, diversity }) => ({
      ...{ page: entry.facts, passage, score, signals: { ...signals, diversity } },
    }))
  }

  /**
   * Returns a filter for passages. Passages of a page are mostly adjacent, so the result for the last page is cached.
   */
  #ofPassages(accepts: (page: PageFacts) => boolean): (id: string) => boolean {
    let [last, accepted] = ['', false]
    return (id) => {
      const page = pageOf(id)
      if (page === last) return accepted
      const entry = this.#pages.get(page)
      last = page
      accepted = entry !== undefined && accepts(entry.facts)
      return accepted
    }
  }

  #found(
    id: string,
    hit: { readonly id: string; readonly parts?: Readonly<Record<string, number>> },
    { concepts, query }: { readonly concepts: readonly Concept[]; readonly query: PageQuery },
  ): readonly Found[] {
    const entry = this.#pages.get(id)
    const order = Number(hit.id.slice(hit.id.lastIndexOf(' ') + 1))
    if (entry === undefined || order >= entry.slots.length) return []
    const { segment, at, facts, titled } = entry
    const { contentHash, firstSeenAt, publishedAt, places } = facts
    const { rank = 0, lexical = 0, vector } = hit.parts ?? {}
    const [words, host] = [segment.wordLengths[at] ?? 0, segment.host(at)]
    const counts = { get: (term: string) => segment.words.times(at, term) }
    const density = words < minWords ? 0 : densityOf(concepts, { counts, length: words })
    const stuffed = Math.min(1, Math.max(0, (density - stuffing.from) / (stuffing.to - stuffing.from)))
    const signals: PageSignals = {
      ...{ relevance: rank, lexical, semantic: vector ?? null, quality: segment.quality(at) },
      title: shareOf(concepts, titled.terms),
      authority: this.#authority(facts.url, host),
      freshness: publishedAt === null ? 0 : 0.5 ** (Math.max(0, query.now - publishedAt) / halfLifeMs),
      spam: 1 - (1 - segment.spam(at)) * (1 - stuffed),
    }
    const passage = { start: places[2 * order] ?? 0, end: places[2 * order + 1] ?? 0 }
    const page = { id, host, title: titled.plain, contentHash, signature: segment.signature(at), words, firstSeenAt }
    return [{ ...page, signals, entry, passage }]
  }

  /** Returns the authority, 0 to 1; a page reaches 1 when about 30 other hosts link to it. */
  #authority(url: string, own: string): number {
    const hosts = new Set<string>()
    this.#links.each(hash53(url), (number) => {
      const from = this.#numbered[number]
      if (from !== undefined && from !== null) hosts.add(from.segment.host(from.at))
    })
    hosts.delete(own)
    return Math.min(1, Math.log2(1 + hosts.size) / 5)
  }
}

const storedPassage = ({ id, segment, at }: Entry, passages: SegmentPassages, number: number): StoredPassage => {
  const order = number - (segment.starts[at] ?? 0)
  return {
    ...{ id: `${id} ${order}`, group: id, order, at: 0, number, length: passages.lengths[number] ?? 0 },
    ...{ language: passages.language(number), vector: passages.vector(number) },
  }
}

/** Returns the page's id in a passage id, which is the page's id and the passage's number. */
const pageOf = (passage: string): string => passage.slice(0, passage.lastIndexOf(' '))
