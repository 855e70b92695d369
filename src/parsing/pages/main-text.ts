import { dropBoilerplate, dropLinkBlocks } from './boilerplate.ts'
import { dropFramingLines } from './framing-lines.ts'
import { isDescribed, leadOf, type SaidOfPage } from './lead.ts'
import { articleOf, documentOf, type PageDocument, type PageElement, prependParagraphs } from './schema.ts'
import { textRuns } from './text-runs.ts'

/** An article with less text than this share of what Readability finds on the whole page has lost some of it. */
const leastShare = 0.5
const leastLength = 100

/**
 * The element that holds what a page is about: what Readability finds once the frame of the page is taken away, or what
 * it finds on the whole page where that is twice as much; the body where it finds nothing. The lead that stands beside the title is put
 * before it.
 *
 * @param plain the page as a tree, which is changed.
 */
export const mainElement = (html: string, plain: PageDocument, said: SaidOfPage): PageElement => {
  const framed = documentOf(html)
  dropBoilerplate(framed.body)
  // Readability changes the trees
  const framedRuns = textRuns(framed.body)
  const all = plain.body.textContent.trim().length
  const article = articleOf(framed)
  const found = article?.textContent.trim().length ?? 0
  // an article of half of the whole page is of half of any article in it: then that need not be looked for
  const isMost = found >= leastLength && found >= all * leastShare
  const plainRuns = isMost && !isDescribed(said) ? [] : textRuns(plain.body)
  const other = isMost ? null : articleOf(plain)
  const whole = other?.textContent.trim().length ?? 0
  const best = article !== null && found >= whole * leastShare ? article : other
  if (best === null || Math.max(found, whole) < leastLength) return bodyOf(html)
  const runs = { framed: best === article ? framedRuns : plainRuns, plain: plainRuns }
  prependParagraphs(best, leadOf(runs, lettersOf(best), said))
  dropLinkBlocks(best)
  dropFramingLines(best)
  return best
}

const bodyOf = (html: string): PageElement => {
  const { body } = documentOf(html)
  dropBoilerplate(body)
  return body
}

const lettersOf = (element: PageElement): string => element.textContent.replace(/\s+/g, '')
