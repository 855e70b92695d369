import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { filesBelow } from '../recall/files.ts'

/** A page of a public set, as a crawl would have read it. */
export interface SetPage {
  readonly url: string
  readonly title: string
  readonly text: string
}

/** Question with the URLs that answer it, each with its grade. */
export interface SetQuestion {
  readonly text: string
  readonly relevant: ReadonlyMap<string, number>
}

/** Pages and questions of one public set. */
export interface PageSet {
  readonly name: string
  readonly measure: 'nDCG@10' | 'MRR@10'
  /** Lower bound for the half of the questions that is reported. */
  readonly atLeast: number
  readonly pages: readonly SetPage[]
  readonly questions: readonly SetQuestion[]
}

/** Returns the sets that exist below a folder: `cranfield`, `npl`, and the documentation of Django below `django`. */
export const pageSetsIn = (folder: string): readonly PageSet[] =>
  [
    cranfield(join(folder, 'cranfield')),
    npl(join(folder, 'npl')),
    django(join(folder, 'django', 'Django-5.2', 'docs')),
  ].filter((set) => set !== null)

/**
 * Cranfield: 1,400 abstracts, 225 questions. Grades are those of `cranqrel_corrected`, where 5 is a complete answer and
 * 1 of least interest; a grade is the gain. In `cranqrel` the scale is reversed, so that its figures are not
 * comparable.
 */
const cranfield = (folder: string): PageSet | null => {
  const [documents, queries, judgements] = ['cran.all.1400', 'cran.qry', 'cranqrel_corrected'].map((name) =>
    join(folder, name),
  )
  if (documents === undefined || queries === undefined || judgements === undefined) return null
  if (![documents, queries, judgements].every((path) => existsSync(path))) return null
  const urlOf = (id: number): string => `https://cranfield.example/${id}`
  const pages = recordsOf(documents).map(({ id, sections }) => {
    const [title = '', text = ''] = [sections.get('T'), sections.get('W')].map((each) =>
      each?.replace(/\s+/g, ' ').trim(),
    )
    return { url: urlOf(id), title, text }
  })
  const graded = new Map<number, Map<string, number>>()
  for (const line of linesOf(judgements)) {
    const [query = 0, , document = 0, grade = 0] = line.trim().split(/\s+/).map(Number)
    graded.set(query, (graded.get(query) ?? new Map<string, number>()).set(urlOf(document), grade))
  }
  // judgements number the questions from 1, in their order
  const questions = recordsOf(queries).map(({ sections }, at) => ({
    text: sections.get('W')?.replace(/\s+/g, ' ').trim() ?? '',
    relevant: graded.get(at + 1) ?? new Map<string, number>(),
  }))
  return { name: 'Cranfield', measure: 'nDCG@10', atLeast: 0.46, pages, questions }
}

/** NPL: 11,429 titles and abstracts on electronics, 93 questions; each page is relevant or not. */
const npl = (folder: string): PageSet | null => {
  const [documents, queries, judgements] = ['doc-text', 'query-text', 'rlv-ass'].map((name) => join(folder, name))
  if (documents === undefined || queries === undefined || judgements === undefined) return null
  if (![documents, queries, judgements].every((path) => existsSync(path))) return null
  const urlOf = (id: string): string => `https://npl.example/${id}`
  const relevant = new Map(
    entriesOf(judgements).map(({ id, text }) => [
      id,
      new Map(text.split(/\s+/).map((document) => [urlOf(document), 1] as const)),
    ]),
  )
  return {
    ...{ name: 'NPL', measure: 'nDCG@10', atLeast: 0.385 },
    pages: entriesOf(documents).map(({ id, text }) => ({ url: urlOf(id), title: '', text })),
    questions: entriesOf(queries).map(({ id, text }) => ({
      text: text.toLowerCase(),
      relevant: relevant.get(id) ?? new Map<string, number>(),
    })),
  }
}

/** Heading in reStructuredText: a line of text above a line of three or more equal marks. */
const heading = /^(?:([=\-~^"#*'+`.])\1{2,}\n)?(\S[^\n]*)\n([=\-~^"#*'+`.])\3{2,}$/gm

/**
 * The documentation of Django, one page per file. A question is the heading of a section that only one page has, with
 * at least three words. Headings of sections are removed from the pages, so that only the text below them can be found.
 */
const django = (folder: string): PageSet | null => {
  if (!existsSync(folder)) return null
  const files = filesBelow(folder, '.txt').map((path) => ({
    url: `https://docs.example/${relative(folder, path).replace(/\.txt$/, '/')}`,
    source: readFileSync(path, 'utf8'),
  }))
  const owners = new Map<string, Set<string>>()
  const pages = files.map(({ url, source }) => {
    const [first, ...sections] = [...source.matchAll(heading)].map(([, , words = '']) => plain(words))
    for (const words of sections) owners.set(words, (owners.get(words) ?? new Set<string>()).add(url))
    return { url, title: first ?? '', text: plain(source.replace(heading, '')) }
  })
  const questions = [...owners].flatMap(([text, urls]) => {
    const [url = ''] = urls
    const isOne = urls.size === 1 && (text.match(/\p{L}{2,}/gu)?.length ?? 0) >= 3
    return isOne ? [{ text, relevant: new Map([[url, 1]]) }] : []
  })
  return { name: 'Django docs', measure: 'MRR@10', atLeast: 0.57, pages, questions }
}

/** Removes the markup of reStructuredText: roles, directives and targets. */
const plain = (source: string): string =>
  source
    .replace(/^\.\. _[^\n]*:$/gm, '')
    .replace(/^\.\. (?:currentmodule|module|highlight|index|toctree)::[^\n]*$/gm, '')
    .replace(/^( *)\.\. [a-z-]+:: ?/gm, '$1')
    .replace(/:[a-z:]+:`~?!?([^`<]*?)(?: <[^`]*>)?`/g, '$1')
    .replace(/``([^`]*)``/g, '$1')
    .replace(/`([^`<]*?)(?: <[^`]*>)?`_{0,2}/g, '$1')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

interface SetRecord {
  readonly id: number
  readonly sections: ReadonlyMap<string, string>
}

/** Parses records: `.I 1`, followed by sections of lines after `.T`, `.W` … */
const recordsOf = (path: string): readonly SetRecord[] =>
  readFileSync(path, 'utf8')
    .split(/^\.I /m)
    .slice(1)
    .map((record) => {
      const [id = '', ...parts] = record.split(/^\.([TABWX])\s*$/m)
      const sections = new Map(
        parts.flatMap((part, at) => (at % 2 === 0 ? [[part, parts[at + 1] ?? ''] as const] : [])),
      )
      return { id: Number(id), sections }
    })

/** Parses entries: a line with a number, lines of text, and a line with a slash. */
const entriesOf = (path: string): readonly { readonly id: string; readonly text: string }[] =>
  readFileSync(path, 'utf8')
    .split(/^\s*\/\s*$/m)
    .flatMap((entry) => {
      const [id = '', ...lines] = entry.trim().split('\n')
      return id === '' ? [] : [{ id: id.trim(), text: lines.join(' ').replace(/\s+/g, ' ').trim() }]
    })

const linesOf = (path: string): readonly string[] => readFileSync(path, 'utf8').trim().split('\n')
