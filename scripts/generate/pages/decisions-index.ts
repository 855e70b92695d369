import { type DecisionPage, decisionPages } from '#scripts/check/decision-pages.ts'
import { readFiles } from '#scripts/check/source-files.ts'
import type { GeneratedFile } from '../generated-file.ts'

const introduction = [
  '# Decisions',
  '',
  'Made from the first lines of the pages by `npm run generate`. A page says what holds today, why, what was measured and what was tried',
  'without success. It begins with `# <number> <title>` and `Area: <one of those below>`, and takes the next free number. A decision that',
  'changes an earlier one changes its page: what no longer holds leaves, its figures and reasons stay. A page that becomes a part of another',
  'keeps its number at the end of the heading of its section, or in a line `Superseded: <numbers>` if nothing of it holds.',
  '',
]

/** `specs/decisions/README.md`: every decision with its area and status, and where each earlier number is now. */
export const decisionsIndex = (root: string): GeneratedFile => {
  const pages = decisionPages(readFiles(root, ['specs/decisions'], ['.md']))
  const areas = [...Map.groupBy(pages, ({ area }) => area)].toSorted(([a], [b]) => a.localeCompare(b))
  const text = [
    ...introduction,
    `${pages.length} pages hold.`,
    '',
    '| area | number | title | status |',
    '|---|---|---|---|',
    ...areas.flatMap(([area, inside]) => inside.map((page) => rowOf(area, page))),
    '',
    '## Earlier numbers',
    '',
    '| number | title | status | superseded by |',
    '|---|---|---|---|',
    ...earlierRows(pages),
    '',
  ].join('\n')
  return { path: 'specs/decisions/README.md', text }
}

const rowOf = (area: string, { number, title, status, file }: DecisionPage): string =>
  `| ${area} | [${number}](${file}) | ${title} | ${status} |`

const earlierRows = (pages: readonly DecisionPage[]): readonly string[] =>
  pages
    .flatMap(({ number, file, title, earlier }) =>
      earlier.map((old) => ({
        number: old.number,
        row:
          old.section === null
            ? `| ${old.number} | | superseded | [${number}](${file}), ${title} |`
            : `| ${old.number} | ${old.section} | merged | [${number}](${file}#${anchorOf(old.section, file, pages)}) |`,
      })),
    )
    .toSorted((a, b) => a.number.localeCompare(b.number))
    .map(({ row }) => row)

/** Anchor that GitHub gives the heading of a section, which ends in the numbers of all pages that became a part of it. */
const anchorOf = (section: string, file: string, pages: readonly DecisionPage[]): string => {
  const numbers = pages
    .filter((page) => page.file === file)
    .flatMap(({ earlier }) => earlier.filter((each) => each.section === section).map(({ number }) => number))
  return `${section} (${numbers.join(', ')})`
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
