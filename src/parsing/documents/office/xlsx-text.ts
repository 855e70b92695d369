import { maxCells, maxExtractedLength } from '#specs/resources/knowledge/knowledge-limits.ts'
import { DocumentRefused } from '../document-refused.ts'
import type { ReadText } from '../text-writer.ts'
import { cellFormats, type NumberKind, shownNumber } from './cell-formats.ts'
import { localName, propertiesPath, readXml, relationsOf, titleIn } from './office-xml.ts'
import { type Parts, zippedParts } from './zipped-parts.ts'

const workbook = 'xl/workbook.xml'
const wanted =
  /^xl\/(?:workbook\.xml|sharedStrings\.xml|styles\.xml|worksheets\/[^/]{1,100}\.xml|_rels\/workbook\.xml\.rels)$/

type Cell = readonly [column: number, value: string]

/**
 * Converts a workbook (xlsx) to Markdown: a heading for each sheet, and one paragraph for each row, with the column name
 * before each value. The first row of several cells, none of which is a number, has the names. Hidden sheets are left out.
 *
 * @throws {DocumentRefused}, and {Error} for other files.
 */
export const xlsxText = async (bytes: Uint8Array): Promise<ReadText> => {
  const parts = await zippedParts(bytes, (path) => path === propertiesPath || wanted.test(path))
  const { sheets, is1904 } = sheetsOf(parts)
  const strings = stringsOf(parts.get('xl/sharedStrings.xml') ?? '')
  const kinds = cellFormats(parts.get('xl/styles.xml') ?? '')
  const writer = new RowWriter()
  const book = { strings, kinds, is1904, count: 0, length: 0 }
  for (const { name, path } of sheets) {
    writer.sheet(name)
    eachRow(parts.get(path) ?? '', book, (cells, hasNumber) => writer.row(cells, hasNumber))
  }
  return { text: writer.end(), title: titleIn(parts) }
}

interface Sheet {
  readonly name: string
  readonly path: string
}

/** Returns the sheets that are shown, in their order, and whether days count from 1904. */
const sheetsOf = (parts: Parts): { readonly sheets: readonly Sheet[]; readonly is1904: boolean } => {
  const xml = parts.get(workbook)
  if (xml === undefined) throw new Error('the archive is no workbook')
  const relations = relationsOf(parts, workbook)
  const sheets: Sheet[] = []
  let is1904 = false
  readXml(xml, {
    onopentag: (prefixed, attributes) => {
      const name = localName(prefixed)
      if (name === 'workbookPr') is1904 = attributes.date1904 === '1' || attributes.date1904 === 'true'
      if (name !== 'sheet' || (attributes.state ?? 'visible') !== 'visible') return
      const path = relations.get(attributes['r:id'] ?? '')
      if (path !== undefined) sheets.push({ name: plain(attributes.name ?? ''), path })
    },
  })
  return { sheets, is1904 }
}

/** Returns the texts that cells refer to by number, without the readings of Japanese texts. */
const stringsOf = (xml: string): readonly string[] => {
  const strings: string[] = []
  let parts: string[] = []
  let [isText, readings] = [false, 0]
  readXml(xml, {
    onopentag: (prefixed) => {
      const name = localName(prefixed)
      if (name === 'si') parts = []
      if (name === 'rPh') readings += 1
      isText = name === 't'
    },
    ontext: (text) => {
      if (isText && readings === 0) parts.push(text)
    },
    onclosetag: (prefixed) => {
      const name = localName(prefixed)
      if (name === 'si') strings.push(plain(parts.join('')))
      if (name === 'rPh') readings -= 1
      if (name === 't') isText = false
    },
  })
  return strings
}

/** Returns a text on one line. `_x000D_` is a character that XML cannot contain. */
const plain = (text: string): string =>
  text
    .replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed()

interface Book {
  readonly strings: readonly string[]
  readonly kinds: readonly NumberKind[]
  readonly is1904: boolean
  /** Number of cells so far, and the length of their texts: many cells may refer to one long text. */
  count: number
  length: number
}

/** Calls `write` for each row of a sheet that has values, with its cells and whether one of them is a number. */
const eachRow = (xml: string, book: Book, write: (cells: readonly Cell[], hasNumber: boolean) => void): void => {
  let cells: Cell[] = []
  let [column, type, style, hasNumber, isValue] = [0, 'n', 0, false, false]
  let value: string[] = []
  readXml(xml, {
    onopentag: (prefixed, { r, t, s }) => {
      const name = localName(prefixed)
      if (name === 'row') [cells, column, hasNumber] = [[], 0, false]
      else if (name === 'c') {
        column = r === undefined ? column + 1 : columnOf(r)
        ;[type, style, value] = [t ?? 'n', Number(s ?? 0), []]
      }
      isValue = name === 'v' || name === 't'
    },
    ontext: (text) => {
      if (isValue) value.push(text)
    },
    onclosetag: (prefixed) => {
      const name = localName(prefixed)
      if (name === 'v' || name === 't') isValue = false
      else if (name === 'c' && value.length > 0) {
        book.count += 1
        if (book.count > maxCells) throw new DocumentRefused('too_many_cells')
        const shown = shownValue({ type, style, text: value.join('') }, book)
        book.length += shown.length
        if (book.length > maxExtractedLength) throw new DocumentRefused('too_much_text')
        if (shown !== '') cells.push([column, shown])
        if (type === 'n') hasNumber = true
      } else if (name === 'row' && cells.length > 0) write(cells, hasNumber)
    },
  })
}

/** Returns the number of the column of a reference such as `AB12`, from 1. */
const columnOf = (reference: string): number => {
  let column = 0
  for (let at = 0; at < 3; at++) {
    const letter = (reference.charCodeAt(at) | 32) - 96
    if (!(letter >= 1 && letter <= 26)) break
    column = column * 26 + letter
  }
  return column
}

interface Written {
  readonly type: string
  readonly style: number
  readonly text: string
}

const shownValue = ({ type, style, text }: Written, { strings, kinds, is1904 }: Book): string => {
  if (type === 's') return strings[Number(text)] ?? ''
  if (type === 'b') return text === '1' ? 'TRUE' : 'FALSE'
  return type === 'n' ? shownNumber(text.trim(), kinds[style] ?? 'number', is1904) : plain(text)
}

/** Minimum number of cells of a row that has the names of columns: a row of one cell is a title. */
const minNames = 2

/** Writes rows as paragraphs. */
class RowWriter {
  readonly #paragraphs: string[] = []
  #length = 0
  #names: ReadonlyMap<number, string> | null = null
  /** A row that may have the names of columns, until a row below it has values. */
  #first: readonly Cell[] | null = null

  sheet(name: string): void {
    this.#flush()
    this.#names = null
    if (name !== '') this.#put(`# ${name}`)
  }

  row(cells: readonly Cell[], hasNumber: boolean): void {
    if (this.#names === null && this.#first === null && !hasNumber && cells.length >= minNames) {
      this.#first = cells
      return
    }
    if (this.#first !== null) {
      this.#names = new Map(this.#first)
      this.#first = null
    }
    const names = this.#names
    this.#put(cells.map(([column, value]) => named(names?.get(column), value)).join('\n'))
  }

  /** @throws {DocumentRefused} */
  end(): string {
    this.#flush()
    return this.#paragraphs.join('\n\n')
  }

  #flush(): void {
    if (this.#first !== null) this.#put(this.#first.map(([, value]) => named(undefined, value)).join('\n'))
    this.#first = null
  }

  #put(paragraph: string): void {
    this.#length += paragraph.length + 2
    if (this.#length > maxExtractedLength) throw new DocumentRefused('too_much_text')
    this.#paragraphs.push(paragraph)
  }
}

/** A value with the name of its column. A value that begins like a heading of Markdown is none. */
const named = (name: string | undefined, value: string): string =>
  name === undefined ? value.replace(/^#(?=#* )/, '\\#') : `${name}: ${value}`
