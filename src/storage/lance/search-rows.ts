import type { SearchDocument } from '../search/search-port.ts'
import type { ArrowPackage, ArrowSchema, ArrowTable } from './lance-package.ts'
import { vectorColumn, vectorType } from './vector-rows.ts'

/** A row: a passage, of which the first of a document has its content, or a note. */
export interface SearchRow {
  readonly key: string
  /** Empty for a note. */
  readonly document: string
  readonly version: number
  readonly step: number
  readonly words: string
  readonly facets: readonly string[]
  readonly time: number | null
  readonly content: Uint8Array | null
  readonly numbers: Int8Array | null
}

const noNumbers = new Int8Array(0)

/** Returns the rows of a document. One without passages has one, which no search finds. */
export const rowsOf = (
  { id, version, facets, time, passages, content }: SearchDocument,
  step: number,
): readonly SearchRow[] =>
  (passages.length === 0 ? [{ words: [], numbers: null }] : passages).map(({ words, numbers }, n) => ({
    ...{ key: `${id} ${n}`, document: id, version, step, words: words.join(' '), facets, time, numbers },
    content: n === 0 ? content : null,
  }))

export const noteRow = (key: string, version = 0, content: Uint8Array | null = null): SearchRow => ({
  ...{ key, document: '', version, step: 0, words: '', facets: [], time: null, numbers: null, content },
})

/** No id of a document begins with a space. */
export const noteKey = (name: string): string => ` ${name}`
export const noteName = (key: string): string => key.slice(1)
/** Rows whose version is a step: up to which changes were noted, and up to which words are in the index of words. */
export const [notedKey, indexedKey] = ['  noted', '  indexed']
/** Rows whose version is the number of parts, and the time in ms at which files were written anew. */
export const [partsKey, erasedKey] = ['  parts', '  erased']
/** A row whose version is that of a part that has what has left the changes. */
export const movedTo = (part: string): string => `${movedKey}${part}`
export const movedKey = '  moved '

/** The columns of an index. */
export class SearchRows {
  readonly schema: ArrowSchema
  readonly #arrow: ArrowPackage
  readonly #dimensions: number
  readonly #types: Readonly<Record<string, object>>

  constructor(arrow: ArrowPackage, dimensions: number) {
    const { Binary, Field, Float64, List, Schema, Utf8 } = arrow
    this.#arrow = arrow
    this.#dimensions = dimensions
    this.#types = {
      ...{ key: new Utf8(), document: new Utf8(), version: new Float64(), step: new Float64(), words: new Utf8() },
      ...{ facets: new List(new Field('item', new Utf8(), true)), time: new Float64(), content: new Binary() },
    }
    const fields = Object.entries(this.#types).map(([name, type]) => new Field(name, type, true))
    const vector = dimensions === 0 ? [] : [new Field('vector', vectorType(arrow, dimensions), true)]
    this.schema = new Schema([...fields, ...vector])
  }

  async encoded(rows: readonly SearchRow[]): Promise<ArrowTable> {
    const { makeData, vectorFromArray, RecordBatch, Struct, Table } = this.#arrow
    const columns: Readonly<Record<string, readonly unknown[]>> = {
      ...{ key: rows.map(({ key }) => key), document: rows.map(({ document }) => document) },
      ...{ version: rows.map(({ version }) => version), step: rows.map(({ step }) => step) },
      words: rows.map(({ words }) => words),
      ...{ facets: rows.map(({ facets }) => facets), time: rows.map(({ time }) => time) },
      content: rows.map(({ content }) => content),
    }
    const children = Object.entries(this.#types).map(
      ([name, type]) => vectorFromArray(columns[name] ?? [], type).data[0],
    )
    if (this.#dimensions > 0) {
      const all = rows.map(({ numbers }) => (numbers?.length === this.#dimensions ? numbers : noNumbers))
      children.push(await vectorColumn(this.#arrow, this.#dimensions, all))
    }
    const struct = makeData({ type: new Struct(this.schema.fields), length: rows.length, nullCount: 0, children })
    return new Table(this.schema, [new RecordBatch(this.schema, struct)])
  }
}

/** Returns a column of a result. */
export const columnOf = (table: ArrowTable, name: string): readonly unknown[] => [...(table.getChild(name) ?? [])]

/** Returns a column of bytes, each at a multiple of 8 of a buffer of its own. */
export const bytesOf = (table: ArrowTable, name: string): readonly Uint8Array[] =>
  columnOf(table, name).map((value) => (value instanceof Uint8Array ? value.slice() : new Uint8Array(0)))
