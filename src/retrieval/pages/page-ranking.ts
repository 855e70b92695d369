import type { Analysis, Concept } from '../analysis/analysis.ts'
import { likenessOf } from './page-quality.ts'

/** The parts of a page's score, each from 0 to 1. */
export interface PageSignals {
  /** Words and vectors of the best passage, beside those of the best page. */
  readonly relevance: number
  readonly lexical: number
  /** Cosine of the best passage; null without vectors. */
  readonly semantic: number | null
  /** Share of the query's words that the title has. */
  readonly title: number
  /** Hosts that link to the page. */
  readonly authority: number
  readonly freshness: number
  readonly quality: number
  readonly spam: number
}

/** A page that a search found, before it is ranked. */
export interface RankedPage {
  readonly id: string
  readonly host: string
  /** Its words in lower case, with a space between each. */
  readonly title: string
  readonly contentHash: string
  readonly signature: Uint32Array
  /** Words of its text, without the most frequent ones of its language. */
  readonly words: number
  /** ms since the epoch. */
  readonly firstSeenAt: number
  readonly signals: PageSignals
}

/** How the parts are weighed. */
export const pageWeights = { title: 0.1, authority: 0.06, freshness: 0.03, quality: 0.02, spam: 0.9 } as const

const most = 1 + pageWeights.title + pageWeights.authority + pageWeights.freshness + pageWeights.quality
/** Pages that agree this far are one page. */
const mirrorLikeness = 0.8
/** In a short text a sentence that was added to a copy is much of it; a copy keeps the title. */
const shortMirrors = { words: 60, likeness: 0.55 } as const
/** Pages of one host share what its templates say, such as those of two products: less than this is no copy. */
const likenessOnHost = 0.95
/** Pages of one host that come without a loss. */
const freePlaces = 2
const hostLoss = 0.9

/** Score of a page by its signals, from 0 to 1. */
export const pageScore = ({ relevance, title, authority, freshness, quality, spam }: PageSignals): number => {
  const w = pageWeights
  const sum = relevance + w.title * title + w.authority * authority + w.freshness * freshness + w.quality * quality
  return (sum * (1 - w.spam * spam)) / most
}

/** A place in the results. */
export interface Placed<Page extends RankedPage> {
  readonly page: Page
  readonly score: number
  /** Factor for pages of a host that came before. */
  readonly diversity: number
}

/**
 * Orders pages by their scores: of mirrors one stays, that with more authority or that was seen first; pages of a host beyond the second
 * lose a tenth each.
 */
export const ranked = <Page extends RankedPage>(
  pages: readonly Page[],
  limit: number,
  diverse = true,
): readonly Placed<Page>[] => {
  const left = withoutMirrors(pages).map((page) => ({ page, score: pageScore(page.signals) }))
  const placed: Placed<Page>[] = []
  const hosts = new Map<string, number>()
  const factorOf = (host: string): number =>
    diverse ? hostLoss ** Math.max(0, (hosts.get(host) ?? 0) - freePlaces + 1) : 1
  while (placed.length < limit && left.length > 0) {
    let best = 0
    let bestScore = -1
    for (const [at, { page, score }] of left.entries()) {
      const now = score * factorOf(page.host)
      if (now > bestScore) [best, bestScore] = [at, now]
    }
    const [{ page } = { page: undefined }] = left.splice(best, 1)
    if (page === undefined) break
    placed.push({ page, score: bestScore, diversity: factorOf(page.host) })
    hosts.set(page.host, (hosts.get(page.host) ?? 0) + 1)
  }
  return placed
}

const withoutMirrors = <Page extends RankedPage>(pages: readonly Page[]): readonly Page[] => {
  const kept: Page[] = []
  const better = (a: Page, b: Page): number =>
    b.signals.authority - a.signals.authority ||
    a.firstSeenAt - b.firstSeenAt ||
    b.signals.relevance - a.signals.relevance
  for (const page of pages.toSorted(better)) {
    const isMirror = kept.some((other) => isOne(other, page))
    if (!isMirror) kept.push(page)
  }
  return kept
}

const isOne = (a: RankedPage, b: RankedPage): boolean => {
  if (a.contentHash === b.contentHash) return true
  const isSame = a.title === b.title
  if (a.host === b.host && !isSame) return false
  const isShort = isSame && Math.min(a.words, b.words) < shortMirrors.words
  const least = a.host === b.host ? likenessOnHost : isShort ? shortMirrors.likeness : mirrorLikeness
  return likenessOf(a.signature, b.signature) >= least
}

/** Share of the query's words that a title has. */
export const shareOf = (concepts: readonly Concept[], words: Analysis['counts']): number =>
  concepts.length === 0
    ? 0
    : concepts.filter(({ terms }) => terms.some((term) => words.has(term))).length / concepts.length

/** Share of a text's words that are words of the query: a text of nothing else says nothing about them. */
export const densityOf = (
  concepts: readonly Concept[],
  { counts, length }: { readonly counts: ReadonlyMap<string, number>; readonly length: number },
): number => {
  const terms = new Set(concepts.flatMap((concept) => concept.terms))
  let found = 0
  for (const term of terms) found += counts.get(term) ?? 0
  return length === 0 ? 0 : found / length
}
