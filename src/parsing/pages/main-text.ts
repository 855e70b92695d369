import { dropBoilerplate, dropLinkBlocks } from './boilerplate.ts'
import type { CleanPage } from './clean-html.ts'
import { dropFramingLines } from './framing-lines.ts'
import { isDescribed, leadOf, type PageMetadata } from './lead.ts'
import { articleOf, documentOf, type PageDocument, type PageElement, prependParagraphs } from './schema.ts'
import { textRuns } from './text-runs.ts'

/** Minimum share of the text that Readability finds on the whole page; an article with less has lost some of it. */
const minShare = 0.5
const minLength = 100
/**
 * Minimum number of links, and share of the text in them, of a page that is a list of links and has no article; the
 * share is lower for a page that has too many elements, whose further links are text only.
 */
const list = { links: 5_000, share: 0.7, shareOfCut: 0.1 } as const

/**
 * Returns the element with the main content of a page: what Readability finds after boilerplate is removed, or what it
 * finds on the whole page if that is more than twice as much; the body when it finds nothing. A lead next to the title
 * is prepended.
 *
 * @param plain the page as a tree, which is modified.
 */
export const mainElement = (
  { html, leftOut }: Pick<CleanPage, 'html' | 'leftOut'>,
  plain: PageDocument,
  metadata: PageMetadata,
): PageElement => {
  const share = leftOut.includes('elements') ? list.shareOfCut : list.share
  if (isListOfLinks(plain, share)) return bodyOf(html)
  const framed = documentOf(html)
  dropBoilerplate(framed.body)
  // taken first, since Readability modifies the trees
  const framedRuns = textRuns(framed.body)
  const all = plain.body.textContent.trim().length
  const article = articleOf(framed)
  const found = article?.textContent.trim().length ?? 0
  // an article with half of the page's text cannot be less than half of any other, so that no other has to be looked
  // for
  const isMainPart = found >= minLength && found >= all * minShare
  const plainRuns = isMainPart && !isDescribed(metadata) ? [] : textRuns(plain.body)
  const other = isMainPart ? null : articleOf(plain)
  const whole = other?.textContent.trim().length ?? 0
  const best = article !== null && found >= whole * minShare ? article : other
  if (best === null || Math.max(found, whole) < minLength) return bodyOf(html)
  const runs = { framed: best === article ? framedRuns : plainRuns, plain: plainRuns }
  prependParagraphs(best, leadOf(runs, lettersOf(best), metadata))
  dropLinkBlocks(best)
  dropFramingLines(best)
  return best
}

/** For such a page Readability would take seconds, and find an arbitrary part of the list. */
const isListOfLinks = ({ body }: PageDocument, share: number): boolean => {
  const links = [...body.querySelectorAll('a')]
  if (links.length < list.links) return false
  const linked = links.reduce((sum, link) => sum + link.textContent.length, 0)
  return linked >= body.textContent.length * share
}

const bodyOf = (html: string): PageElement => {
  const { body } = documentOf(html)
  dropBoilerplate(body)
  return body
}

const lettersOf = (element: PageElement): string => element.textContent.replace(/\s+/g, '')
