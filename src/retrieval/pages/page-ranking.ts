import type { Analysis, Concept } from '../analysis/analysis.ts'
import { likenessOf } from './page-quality.ts'

/** Signals of a page's score, each from 0 to 1. */
export interface PageSignals {
  /** Fused score of the best passage, relative to that of the best page. */
  readonly relevance: number
  readonly lexical: number
  /** Cosine of the best passage; null without vectors. */
  readonly semantic: number | null
  /** Share of the query's words in the title. */
  readonly title: number
  /** Authority by the number of hosts that link to the page. */
  readonly authority: number
  readonly freshness: number
  readonly quality: number
  readonly spam: number
}

/** A page found by a search, before ranking. */
export interface RankedPage {
  readonly id: string
  readonly host: string
  /** Its lower-case words, separated by spaces. */
  readonly title: string
  readonly contentHash: string
  readonly signature: Uint32Array
  /** Number of words of its text, without stop words. */
  readonly words: number
  /** ms since the epoch. */
  readonly firstSeenAt: number
  readonly signals: PageSignals
}

/** Weights of the signals, relative to relevance. */
const pageWeights = { title: 0.1, authority: 0.06, freshness: 0.03, quality: 0.02, spam: 0.9 } as const

const max = 1 + pageWeights.title + pageWeights.authority + pageWeights.freshness + pageWeights.quality
/** Similarity from which pages count as mirrors of one page. */
const mirrorLikeness = 0.8
/** Threshold for short pages with the same title: a sentence added to a copy changes a large part of a short text. */
const shortMirrors = { words: 60, likeness: 0.55 } as const
/**
 * Threshold for pages of one host: they share text of their templates, such as those of two products, so only almost
 * identical ones are copies.
 */
const likenessOnHost = 0.95
/** Number of pages of one host that are not lowered. */
const freePlaces = 2
const hostLoss = 0.9

/** Returns the score of a page from its signals, 0 to 1. */
const pageScore = ({ relevance, title, authority, freshness, quality, spam }: PageSignals): number => {
  const w = pageWeights
  const sum = relevance + w.title * title + w.authority * authority + w.freshness * freshness + w.quality * quality
  return (sum * (1 - w.spam * spam)) / max
}

/** A ranked page. */
export interface Placed<Page extends RankedPage> {
  readonly page: Page
  readonly score: number
  /** Factor applied because of better pages of the same host. */
  readonly diversity: number
}

/**
 * Ranks pages by score. Of mirrors only one is kept, the one with the most authority, or else the one seen first. Pages
 * of a host beyond the second lose 10 % each.
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
  const min = a.host === b.host ? likenessOnHost : isShort ? shortMirrors.likeness : mirrorLikeness
  return likenessOf(a.signature, b.signature) >= min
}

/** Returns the share of the query's words in a title. */
export const shareOf = (concepts: readonly Concept[], words: Analysis['counts']): number =>
  concepts.length === 0
    ? 0
    : concepts.filter(({ terms }) => terms.some((term) => words.has(term))).length / concepts.length

/** Returns the share of a text's words that are words of the query; a text of nothing else is keyword stuffing. */
export const densityOf = (
  concepts: readonly Concept[],
  { counts, length }: { readonly counts: Pick<ReadonlyMap<string, number>, 'get'>; readonly length: number },
): number => {
  const terms = new Set(concepts.flatMap((concept) => concept.terms))
  let found = 0
  for (const term of terms) found += counts.get(term) ?? 0
  return length === 0 ? 0 : found / length
}
