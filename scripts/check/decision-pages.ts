import { type Finding, lineAt, type SourceFile } from './source-files.ts'

/** More pages than this are too many to read: two about one thing become one. */
const maxPages = 90

/** A page of `specs/decisions`, by its first lines: `# 0042 Title`, then `Area: storage`. */
export interface DecisionPage {
  readonly number: string
  readonly title: string
  readonly area: string
  /** `holds`, unless the page has a line `Status: …`. */
  readonly status: string
  readonly file: string
  /** Numbers of earlier pages that became a part of this one, in its order. */
  readonly earlier: readonly EarlierPage[]
}

/** An earlier page: a section whose heading ends in its number, or a number in the line `Superseded: …`. */
interface EarlierPage {
  readonly number: string
  /** Null when nothing of it holds. */
  readonly section: string | null
}

const fileName = /^specs\/decisions\/(\d{4}-[\w-]+\.md)$/
const heading = /^## (.*) \((\d{4}(?:, \d{4})*)\)$/gm

/** The pages among `files`, by number. */
export const decisionPages = (files: readonly SourceFile[]): readonly DecisionPage[] =>
  files.flatMap(({ path, text }) => {
    const file = fileName.exec(path)?.[1]
    return file === undefined ? [] : [pageOf(file, text)]
  })

const pageOf = (file: string, text: string): DecisionPage => ({
  number: file.slice(0, 4),
  title: /^# \d{4}:? (.*)/.exec(text)?.[1] ?? '',
  area: /^Area: (.*)/m.exec(text)?.[1] ?? '',
  status: /^Status: (.*)/m.exec(text)?.[1] ?? 'holds',
  file,
  earlier: [
    ...[...text.matchAll(heading)].flatMap(([, section = '', numbers = '']) =>
      numbers.split(', ').map((number) => ({ number, section })),
    ),
    ...numbersIn(/^Superseded: (.*)/m.exec(text)?.[1] ?? '').map((number) => ({ number, section: null })),
  ],
})

const numbersIn = (text: string): readonly string[] => text.match(/\d{4}/g) ?? []

const citation = /decisions\/(\d{4})(?!\d)|\]\((?:[\w./]*\/)?(\d{4})-[\w-]+\.md/g
/** A number in the prose of a decision: 0042, but not 0.042, 10:0042 or `0042`. */
const bareNumber = /(?<![\w.,:#/`-])(0\d{3})(?![\w-]|[.,:]\d)/g

/**
 * Finds pages that break the form from which the index is made, a number that two pages claim, more pages than a reader
 * can know, and citations of a number that no page has or had.
 */
export const decisionFindings = (pages: readonly DecisionPage[], citing: readonly SourceFile[]): readonly Finding[] => {
  const known = pages.flatMap(({ number, earlier }) => [number, ...earlier.map((each) => each.number)])
  const numbers = new Set(known)
  return [
    ...pages.flatMap(formFindings),
    ...known
      .filter((number, at) => known.indexOf(number) !== at)
      .map((number) => ({ path: 'specs/decisions', line: 1, message: `two pages claim the number ${number}` })),
    ...(pages.length > maxPages
      ? [{ path: 'specs/decisions', line: 1, message: `has ${pages.length} pages; merge those about one thing` }]
      : []),
    ...citing.flatMap((file) =>
      citationsIn(file)
        .filter(({ number }) => !numbers.has(number))
        .map(({ number, offset }) => ({
          path: file.path,
          line: lineAt(file.text, offset),
          message: `no decision has the number ${number}`,
        })),
    ),
  ]
}

const formFindings = ({ file, title, area }: DecisionPage): readonly Finding[] =>
  [
    ...(title === '' ? ['begins with `# <its number> <its title>`'] : []),
    ...(area === '' ? ['has a line `Area: …` below its title'] : []),
  ].map((rule) => ({ path: `specs/decisions/${file}`, line: 1, message: `a decision ${rule}` }))

const citationsIn = ({ path, text }: SourceFile): readonly { readonly number: string; readonly offset: number }[] =>
  [...text.matchAll(citation), ...(fileName.test(path) ? text.matchAll(bareNumber) : [])].map((match) => ({
    number: match[1] ?? match[2] ?? '',
    offset: match.index,
  }))
