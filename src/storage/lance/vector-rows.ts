import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoredVector } from '../vector-port.ts'
import type { ArrowPackage, ArrowSchema, ArrowTable } from './lance-package.ts'

/** A vector with its key, which is unique in its table, and its group. */
export interface VectorRow extends StoredVector {
  readonly key: string
  readonly group: string
}

/** Numbers that are encoded in one turn of the event loop. */
const numbersEach = 65_536

/**
 * The columns of vectors of one length, with a float for each whole number: the engine has no index over bytes. A vector
 * without a direction is null: it is stored, and never found.
 */
export class VectorRows {
  readonly schema: ArrowSchema
  readonly #arrow: ArrowPackage
  readonly #dimensions: number
  readonly #vectorType: object

  constructor(arrow: ArrowPackage, dimensions: number) {
    this.#arrow = arrow
    this.#dimensions = dimensions
    this.#vectorType = new arrow.FixedSizeList(dimensions, new arrow.Field('item', new arrow.Float32(), true))
    const texts = ['key', 'group', 'id'].map((name) => new arrow.Field(name, new arrow.Utf8(), false))
    this.schema = new arrow.Schema([...texts, new arrow.Field('vector', this.#vectorType, true)])
  }

  /** Encodes rows, a share in each turn of the event loop. */
  async encoded(rows: readonly VectorRow[]): Promise<ArrowTable> {
    const { makeData, vectorFromArray, Float32, RecordBatch, Struct, Table, Utf8 } = this.#arrow
    const numbers = new Float32Array(rows.length * this.#dimensions)
    const directed = new Uint8Array(Math.ceil(rows.length / 8))
    const rowsEach = Math.ceil(numbersEach / this.#dimensions)
    let nullCount = 0
    for (const [at, row] of rows.entries()) {
      if (at > 0 && at % rowsEach === 0) await nextTurn()
      numbers.set(row.numbers, at * this.#dimensions)
      if (row.numbers.some((number) => number !== 0)) directed[at >> 3] = (directed[at >> 3] ?? 0) | (1 << (at & 7))
      else nullCount++
    }
    const length = rows.length
    const child = makeData({ type: new Float32(), length: numbers.length, data: numbers, nullCount: 0 })
    const texts = [rows.map(({ key }) => key), rows.map(({ group }) => group), rows.map(({ id }) => id)]
    const children = [
      ...texts.map((column) => vectorFromArray(column, new Utf8()).data[0]),
      makeData({ type: this.#vectorType, length, child, nullCount, nullBitmap: directed }),
    ]
    const struct = makeData({ type: new Struct(this.schema.fields), length, nullCount: 0, children })
    return new Table(this.schema, [new RecordBatch(this.schema, struct)])
  }
}

/** Returns the vectors of a result, in its order, without those that have no direction. */
export const vectorsOf = (table: ArrowTable): readonly StoredVector[] => {
  const ids = [...(table.getChild('id') ?? [])].map(String)
  const parts = table.getChild('vector')?.data ?? []
  const numbers = parts.flatMap((part) => {
    const values = part.children[0]?.values ?? new Float32Array()
    const dimensions = values.length / part.length
    return Array.from({ length: part.length }, (_, row) =>
      part.getValid(row) ? Int8Array.from(values.subarray(row * dimensions, (row + 1) * dimensions)) : null,
    )
  })
  return ids.flatMap((id, at) => {
    const found = numbers[at] ?? null
    return found === null ? [] : [{ id, numbers: found }]
  })
}
