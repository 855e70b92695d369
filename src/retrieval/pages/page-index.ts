import { type Analysis, analysisOf, conceptsOf, english } from '../analysis/analysis.ts'
import { PassageIndex } from '../passage-index.ts'
import { weightsOfPages } from '../ranking/weights.ts'
import { aboveOf } from './page-passages.ts'
import { type PageQuality, qualityOf, signatureOf } from './page-quality.ts'
import { densityOf, type PageSignals, type RankedPage, ranked, shareOf } from './page-ranking.ts'

/** A part of a page's text. */
export interface PagePassage {
  readonly start: number
  readonly end: number
  readonly heading: string | null
  readonly vector: Float32Array | null
}

/** A page that can be found. Times in ms since the epoch. */
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
  /** Addresses that it links to. */
  readonly links: readonly string[]
}

/** What is looked for. */
export interface PageQuery {
  readonly text: string
  readonly vector: Float32Array | null
  readonly embedder: string | null
  readonly limit: number
  /** null: every page. A filter is put to each passage of the corpus. */
  readonly accepts: ((page: FindablePage) => boolean) | null
  /** Whether hosts take turns. */
  readonly diverse: boolean
  readonly now: number
}

/** A page that was found, with its best passage. */
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
  /** Words of its title, as `RankedPage` has them. */
  readonly plainTitle: string
  /** Words of its title, analysed. */
  readonly titled: Analysis['counts']
}

interface Found extends RankedPage {
  readonly entry: Entry
  readonly passage: PagePassage
}

/** Passages that are grouped by their pages. */
const mostPassages = 200
const dayMs = 86_400_000
/** A page is worth half as much as new after this time. */
const halfLifeMs = 365 * dayMs
const bytesAPage = 4_000
/** A shorter page may be of nothing but the query's words. */
const leastWords = 40
/** Share of the query's words among those of a page: a short text that answers a long question has up to a half. */
const stuffing = { from: 0.45, to: 0.7 } as const

/** Pages of one corpus in memory, found by their passages and ranked by what is known of the page. */
export class PageIndex {
  readonly #passages = new PassageIndex('document', weightsOfPages)
  readonly #pages = new Map<string, Entry>()
  /** Hosts that link to an address. */
  readonly #linking = new Map<string, Map<string, number>>()
  #textBytes = 0

  get size(): number {
    return this.#pages.size
  }

  /** Estimate of its memory. */
  get bytes(): number {
    return this.#passages.bytes + this.#textBytes + this.#pages.size * bytesAPage
  }

  page(id: string): FindablePage | undefined {
    return this.#pages.get(id)?.page
  }

  /** Adds a page, in place of the one with its id. */
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

  /** Finds pages by a query, best first. */
  async search(query: PageQuery): Promise<readonly PageHit[]> {
    const { text, vector, embedder, accepts, now } = query
    const { hits } = await this.#passages.search({
      ...{ text, vector, now, limit: mostPassages, explain: true },
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

  /** The passages of a page mostly stand beside one another: it is looked up once for them. */
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
    const density = entry.words.length < leastWords ? 0 : densityOf(concepts, entry.words)
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

  /** A page that 30 other hosts link to has all of it. */
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

/** A passage is called by its page and its place. */
const pageOf = (passage: string): string => passage.slice(0, passage.lastIndexOf(' '))

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.replace(/^www\./, '') : '')
