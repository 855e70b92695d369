import { isFramingLine } from './framing-lines.ts'
import type { TextRun } from './text-runs.ts'

/** Metadata by which a page's lead is recognised. */
export interface PageMetadata {
  readonly description: string
}

/** Minimum length in characters; shorter texts under a title are dates, names and comment counts. */
const minLength = 60
const maxLinked = 0.3
const maxRuns = 4
/** Letters of the article that are searched to find where it begins on the page. */
const searched = 20_000
/** Maximum and minimum number of letters by which a text is identified. */
const known = { max: 80, min: 40 } as const

/**
 * Returns leading paragraphs that are next to the title and were not found as part of the article: those between the
 * title and the article's first paragraph, and the one that matches the page's description.
 *
 * @param framed runs of the page without boilerplate.
 * @param plain runs of the whole page.
 * @param article letters of the article found.
 */
export const leadOf = (
  { framed, plain }: { readonly framed: readonly TextRun[]; readonly plain: readonly TextRun[] },
  article: string,
  { description }: PageMetadata,
): readonly string[] => {
  const lead = underTitle(framed, article)
  const start = startOf(description)
  if (start.length < known.min || article.includes(start) || lead.some(({ letters }) => letters.startsWith(start)))
    return lead.map(({ text }) => text)
  const { title, first } = bordersOf(plain, article)
  const described = plain.find(({ letters }, at) => at > title && at < first && letters.startsWith(start))
  return [...(described === undefined ? [] : [described]), ...lead].map(({ text }) => text)
}

/** Whether the page's description is long enough to identify its lead. */
export const isDescribed = ({ description }: PageMetadata): boolean => startOf(description).length === known.min

const startOf = (description: string): string => description.replace(/\s+/g, '').slice(0, known.min)

const underTitle = (runs: readonly TextRun[], article: string): readonly TextRun[] => {
  const { title, first } = bordersOf(runs, article)
  return title === -1
    ? []
    : runs
        .slice(title + 1, first)
        .filter(isText)
        .slice(0, maxRuns)
}

/** Returns the indices of the title and of the article's first run. */
const bordersOf = (runs: readonly TextRun[], article: string): { readonly title: number; readonly first: number } => {
  const start = article.slice(0, searched)
  const first = runs.findIndex(
    ({ letters }) => letters.length >= known.min && start.includes(letters.slice(0, known.max)),
  )
  return { title: runs.findLastIndex(({ block }, at) => at < first && block === 'h1'), first }
}

/** Lines under a title that credit an author or photographer. */
const credited = /^(?:by|von|par|por) [^.!?]{0,120}$|(?:©|\(c\)|photo|foto|getty images|reuters)[^.!?]{0,60}$/iu

const isText = ({ text, linked }: TextRun): boolean =>
  text.length >= minLength && linked < maxLinked && !credited.test(text) && !isFramingLine(text)
