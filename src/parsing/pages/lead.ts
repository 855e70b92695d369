import { isFramingLine } from './framing-lines.ts'
import type { TextRun } from './text-runs.ts'

/** What a page says of itself that its lead is known by. */
export interface SaidOfPage {
  readonly description: string
}

/** In characters: shorter texts under a title are dates, names and numbers of comments. */
const leastLength = 60
const mostLinked = 0.3
const mostRuns = 4
/** How much of the article is looked through for where it begins on the page, in letters. */
const searched = 20_000
/** Letters by which a text is known, and the least of them that do. */
const known = { most: 80, least: 40 } as const

/**
 * The paragraphs that begin a text and were not taken for it, since they stand beside the title and not in the article: those between
 * the title and the article's first, and the one that the page describes itself with.
 *
 * @param framed the page without its frame, in runs.
 * @param plain the page in runs.
 * @param article the letters of what was taken for the text.
 */
export const leadOf = (
  { framed, plain }: { readonly framed: readonly TextRun[]; readonly plain: readonly TextRun[] },
  article: string,
  { description }: SaidOfPage,
): readonly string[] => {
  const lead = underTitle(framed, article)
  const start = startOf(description)
  if (start.length < known.least || article.includes(start) || lead.some(({ letters }) => letters.startsWith(start)))
    return lead.map(({ text }) => text)
  const { title, first } = bordersOf(plain, article)
  const described = plain.find(({ letters }, at) => at > title && at < first && letters.startsWith(start))
  return [...(described === undefined ? [] : [described]), ...lead].map(({ text }) => text)
}

/** Whether a page says so much of itself that its lead can be known by it. */
export const isDescribed = ({ description }: SaidOfPage): boolean => startOf(description).length === known.least

const startOf = (description: string): string => description.replace(/\s+/g, '').slice(0, known.least)

const underTitle = (runs: readonly TextRun[], article: string): readonly TextRun[] => {
  const { title, first } = bordersOf(runs, article)
  return title === -1
    ? []
    : runs
        .slice(title + 1, first)
        .filter(isText)
        .slice(0, mostRuns)
}

/** Where the title stands before the first text of the article. */
const bordersOf = (runs: readonly TextRun[], article: string): { readonly title: number; readonly first: number } => {
  const start = article.slice(0, searched)
  const first = runs.findIndex(
    ({ letters }) => letters.length >= known.least && start.includes(letters.slice(0, known.most)),
  )
  return { title: runs.findLastIndex(({ block }, at) => at < first && block === 'h1'), first }
}

/** How lines under a title begin or end that name who wrote or photographed. */
const credited = /^(?:by|von|par|por) [^.!?]{0,120}$|(?:©|\(c\)|photo|foto|getty images|reuters)[^.!?]{0,60}$/iu

const isText = ({ text, linked }: TextRun): boolean =>
  text.length >= leastLength && linked < mostLinked && !credited.test(text) && !isFramingLine(text)
