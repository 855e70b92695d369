import { isObject } from '#outgoing/wire.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import type { OpenedTag } from '../clean-html.ts'
import { decodedEntities } from '../entities.ts'
import { isElement, type PageDocument, type PageElement } from '../schema.ts'
import { plainName } from './names.ts'

/** Sources of data in a page, most trusted first. */
export const dataSources = ['json_ld', 'microdata', 'meta', 'table', 'label', 'heading'] as const

/** A source of data in a page. */
export type DataSource = (typeof dataSources)[number]

/** A named value in a page. */
export interface Candidate {
  /** Name, normalised by `plainName`. */
  readonly name: string
  readonly value: Json
  readonly source: DataSource
}

/** A table with a header row. */
interface DataTable {
  /** Column names, normalised by `plainName`. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** All named values and tables of a page. */
export interface PageCandidates {
  readonly named: readonly Candidate[]
  readonly tables: readonly DataTable[]
}

const max = { candidates: 5_000, depth: 5, rows: 500, tables: 20, columns: 30, text: 2_000, lines: 3_000 } as const

/** Collects the named values of a page: structured data, then tables, definition lists, labelled lines and headings. */
export const candidatesOf = (
  document: PageDocument | null,
  {
    metaTags,
    jsonLd,
    content,
  }: { readonly metaTags: readonly OpenedTag[]; readonly jsonLd: readonly JsonObject[]; readonly content: string },
): PageCandidates => {
  const tables = document === null ? [] : [...document.querySelectorAll('table')].slice(0, max.tables)
  const named = [
    ...jsonLd.flatMap((object) => fieldsOf(object)),
    ...metaTags.flatMap(microdataOf),
    ...metaTags.flatMap(metaOf),
    ...tables.flatMap(pairsOf),
    ...(document === null ? [] : termsOf(document)),
    ...content.split('\n').slice(0, max.lines).flatMap(labelOf),
    ...(document === null ? [] : headingsOf(document)),
    ...metaTags.flatMap(titleOf),
  ]
  return { named: named.slice(0, max.candidates), tables: tables.flatMap(tableOf) }
}

/** Returns the fields of an object under their own names, and under names prefixed with the parent's. */
export const fieldsOf = (object: JsonObject, above = '', depth = 0): readonly Candidate[] => {
  if (depth > max.depth) return []
  return Object.entries(object).flatMap(([key, value]): readonly Candidate[] => {
    if (key.startsWith('@') || value === undefined) return []
    const name = plainName(key)
    const own = (above === '' ? [name] : [name, `${above}${name}`]).map(
      (each) => ({ name: each, value, source: 'json_ld' }) as const,
    )
    const inner = (Array.isArray(value) ? value.slice(0, 20) : [value]).filter(isRecord)
    // the name of an object stands for it, such as the author in `author: {name}`
    const called = inner.flatMap((each) =>
      typeof each.name === 'string' ? [{ name, value: each.name, source: 'json_ld' } as const] : [],
    )
    const below = inner.flatMap((each) => fieldsOf(each, name, depth + 1))
    return [...(inner.length > 0 ? called : []), ...own, ...below].slice(0, max.candidates)
  })
}

const isRecord = (value: Json): value is JsonObject => isObject(value) && !Array.isArray(value)

const microdataOf = (tag: OpenedTag): readonly Candidate[] => {
  const { itemprop, content, datetime, href, src } = tag.attributes
  if (itemprop === undefined) return []
  const value = content ?? datetime ?? (tag.name === 'a' || tag.name === 'link' ? href : src) ?? tag.text()
  return itemprop.split(/\s+/).map((name) => ({ name: plainName(name), value: clean(value), source: 'microdata' }))
}

const metaOf = ({ name, attributes }: OpenedTag): readonly Candidate[] => {
  const key = attributes.property ?? attributes.name
  const { content } = attributes
  return name !== 'meta' || key === undefined || content === undefined
    ? []
    : [{ name: plainName(key), value: clean(content), source: 'meta' }]
}

/** Returns the title element. It often includes the site's name, so other titles of the page take precedence. */
const titleOf = ({ name, text }: OpenedTag): readonly Candidate[] =>
  name === 'title' ? [{ name: 'title', value: clean(decodedEntities(text())), source: 'heading' }] : []

const cellsOf = (row: PageElement): readonly PageElement[] =>
  [...row.childNodes]
    .filter((node) => isElement(node))
    .filter(({ localName }) => /^t[dh]$/.test(localName))
    .slice(0, max.columns)

const rowsOf = (table: PageElement): readonly (readonly string[])[] =>
  [...table.querySelectorAll('tr')].slice(0, max.rows).map((row) => cellsOf(row).map((cell) => clean(cell.textContent)))

/** Returns rows of two cells as a name and a value. */
const pairsOf = (table: PageElement): readonly Candidate[] =>
  rowsOf(table).flatMap((cells) => {
    const [name = '', value = ''] = cells
    return cells.length === 2 && name !== '' && value !== '' && name.length <= 60
      ? [{ name: plainName(name), value, source: 'table' }]
      : []
  })

const tableOf = (table: PageElement): readonly DataTable[] => {
  const [head, ...rows] = rowsOf(table).filter((cells) => cells.length > 1)
  return head === undefined || rows.length === 0 ? [] : [{ columns: head.map(plainName), rows }]
}

const termsOf = (document: PageDocument): readonly Candidate[] => {
  let term = ''
  return [...document.querySelectorAll('dt, dd')].slice(0, max.candidates).flatMap((element): readonly Candidate[] => {
    const text = clean(element.textContent)
    if (element.localName === 'dt') term = text
    const isValue = element.localName === 'dd' && term !== '' && text !== ''
    return isValue ? [{ name: plainName(term), value: text, source: 'label' }] : []
  })
}

/** Reads a line such as `Price: 12 €`. */
const labelOf = (line: string): readonly Candidate[] => {
  const at = line.search(/[:：]/)
  if (at < 1 || at > 40) return []
  const [name, value] = [line.slice(0, at), clean(line.slice(at + 1))]
  return value === '' || value.startsWith('//') || name.split(' ').length > 5
    ? []
    : [{ name: plainName(name), value, source: 'label' }]
}

/** Returns the text after each heading under the heading's name, and the first-level headings as titles. */
const headingsOf = (document: PageDocument): readonly Candidate[] => {
  const found: Candidate[] = []
  let heading = ''
  for (const element of [...document.querySelectorAll('h1, h2, h3, h4, h5, h6, p, ul, ol')].slice(0, max.candidates)) {
    const text = clean(element.textContent)
    if (/^h[1-6]$/.test(element.localName)) {
      heading = text
      if (element.localName === 'h1') found.push({ name: 'title', value: text, source: 'heading' })
    } else if (heading !== '' && text !== '') {
      const items = [...element.querySelectorAll('li')].slice(0, max.rows).map((item) => clean(item.textContent))
      found.push({ name: plainName(heading), value: items.length > 0 ? items : text, source: 'heading' })
      heading = ''
    }
  }
  return found
}

const clean = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, max.text)
