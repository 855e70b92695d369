import { type Analysis, analysisOf, conceptsOf, english } from '../analysis/analysis.ts'
import { PassageIndex } from '../passage-index.ts'
import { weightsOfPages } from '../ranking/weights.ts'
import { aboveOf } from './page-passages.ts'
import { type PageQuality, qualityOf, signatureOf } from './page-quality.ts'
import { densityOf, type PageSignals, type RankedPage, ranked, shareOf } from './page-ranking.ts'

/** A part of a page's text. */
interface PagePassage {
  readonly start: number
  readonly end: number
  readonly heading: string | null
  readonly vector: Float32Array | null
}

/** A page to index. Times are in ms since the epoch. */
export interface FindablePage {
  readonly id: string
  readonly url: string
  readonly title: string
  readonly description: string
  readonly text: string
  readonly passages: readonly PagePassage[]
  readonly contentHash: string
  readonly publishedAt: number | null
  readonly firstSeenAt: number
  readonly retrievedAt: number
  /** URLs that it links to. */
  readonly links: readonly string[]
}

/** A query for pages. */
export interface PageQuery {
  readonly text: string
  readonly vector: Float32Array | null
  readonly embedder: string | null
  readonly limit: number
  /** Filter of pages; null: every page. It may be called for every passage of the index. */
  readonly accepts: ((page: FindablePage) => boolean) | null
  /** Whether to lower further pages of the same host, for more varied results. */
  readonly diverse: boolean
  readonly now: number
}

/** A page found, with its best passage. */
export interface PageHit {
  readonly page: FindablePage
  readonly passage: PagePassage
  /** 0 to 1. */
  readonly score: number
  readonly signals: PageSignals & { readonly diversity: number }
}

interface Entry extends PageQuality {
  readonly page: FindablePage
  readonly host: string
  readonly words: Pick<Analysis, 'counts' | 'length'>
  readonly signature: Uint32Array
  /** Words of its title, as in `RankedPage`. */
  readonly plainTitle: string
  /** Analysed terms of its title. */
  readonly titled: Analysis['counts']
}

interface Found extends RankedPage {
  readonly entry: Entry
  readonly passage: PagePassage
}

/** Maximum number of passages that are grouped by page. */
const maxPassages = 200
const dayMs = 86_400_000
/** Half-life of a page's freshness. */
const halfLifeMs = 365 * dayMs
const bytesAPage = 4_000
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
  /** Hosts that link to each URL, with the number of their links. */
  readonly #linking = new Map<string, Map<string, number>>()
  #textBytes = 0

  get size(): number {
    return this.#pages.size
  }

  /** Estimated memory in bytes. */
  get bytes(): number {
    return this.#passages.bytes + this.#textBytes + this.#pages.size * bytesAPage
  }

  page(id: string): FindablePage | undefined {
    return this.#pages.get(id)?.page
  }

  /** Adds a page, or replaces the one with its id. */
  add(page: FindablePage): void {
    this.remove(page.id)
    const { title, text, description, links } = page
    const entry: Entry = {
      page,
      host: hostOf(page.url),
      words: analysisOf(text, english),
      signature: signatureOf(text),
      plainTitle: (title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' '),
      titled: analysisOf(title, english).counts,
      ...qualityOf({ title, text, description, links: links.length }),
    }
    this.#pages.set(page.id, entry)
    this.#textBytes += text.length * 2
    for (const link of links) this.#count(link, entry.host, 1)
    for (const [order, { start, end, heading, vector }] of page.passages.entries()) {
      const passage = {
        id: `${page.id} ${order}`,
        text: text.slice(start, end),
        group: page.id,
        order,
        at: page.retrievedAt,
        vector,
      }
      const above = aboveOf(title, { heading }, order)
      this.#passages.add(above === '' ? passage : { ...passage, heading: above })
    }
  }

  remove(id: string): void {
    const entry = this.#pages.get(id)
    if (entry === undefined) return
    this.#pages.delete(id)
    this.#textBytes -= entry.page.text.length * 2
    for (const link of entry.page.links) this.#count(link, entry.host, -1)
    for (const order of entry.page.passages.keys()) this.#passages.remove(`${id} ${order}`)
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
      ...{ page: entry.page, passage, score, signals: { ...signals, diversity } },
    }))
  }

  /**
   * Returns a filter for passages. Passages of a page are mostly adjacent, so the result for the last page is cached.
   */
  #ofPassages(accepts: (page: FindablePage) => boolean): (id: string) => boolean {
    let [last, accepted] = ['', false]
    return (id) => {
      const page = pageOf(id)
      if (page === last) return accepted
      const entry = this.#pages.get(page)
      last = page
      accepted = entry !== undefined && accepts(entry.page)
      return accepted
    }
  }

  #found(
    id: string,
    hit: { readonly id: string; readonly parts?: Readonly<Record<string, number>> },
    { concepts, query }: { readonly concepts: ReturnType<typeof conceptsOf>; readonly query: PageQuery },
  ): readonly Found[] {
    const entry = this.#pages.get(id)
    const passage = entry?.page.passages[Number(hit.id.slice(hit.id.lastIndexOf(' ') + 1))]
    if (entry === undefined || passage === undefined) return []
    const { page, host, signature, quality, titled, plainTitle } = entry
    const { rank = 0, lexical = 0, vector } = hit.parts ?? {}
    const density = entry.words.length < minWords ? 0 : densityOf(concepts, entry.words)
    const stuffed = Math.min(1, Math.max(0, (density - stuffing.from) / (stuffing.to - stuffing.from)))
    const signals: PageSignals = {
      ...{ relevance: rank, lexical, semantic: vector ?? null, quality },
      title: shareOf(concepts, titled),
      authority: this.#authority(page.url, host),
      freshness: page.publishedAt === null ? 0 : 0.5 ** (Math.max(0, query.now - page.publishedAt) / halfLifeMs),
      spam: 1 - (1 - entry.spam) * (1 - stuffed),
    }
    const { contentHash, firstSeenAt } = page
    const { length } = entry.words
    return [
      { id, host, title: plainTitle, contentHash, signature, words: length, firstSeenAt, signals, entry, passage },
    ]
  }

  /** Returns the authority, 0 to 1; a page reaches 1 when about 30 other hosts link to it. */
  #authority(url: string, own: string): number {
    const hosts = this.#linking.get(url)
    const others = hosts === undefined ? 0 : hosts.size - Number(hosts.has(own))
    return Math.min(1, Math.log2(1 + others) / 5)
  }

  #count(url: string, host: string, by: number): void {
    const hosts = this.#linking.get(url) ?? new Map<string, number>()
    const count = (hosts.get(host) ?? 0) + by
    if (count > 0) hosts.set(host, count)
    else hosts.delete(host)
    if (hosts.size > 0) this.#linking.set(url, hosts)
    else this.#linking.delete(url)
  }
}

/** Returns the page's id in a passage id, which is the page's id and the passage's number. */
const pageOf = (passage: string): string => passage.slice(0, passage.lastIndexOf(' '))

const hostOf = (url: string): string => URL.parse(url)?.hostname.replace(/^www\./, '') ?? ''
