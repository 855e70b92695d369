import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoredVector } from '../search/vector-port.ts'
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

  constructor(arrow: ArrowPackage, dimensions: number) {
    this.#arrow = arrow
    this.#dimensions = dimensions
    const texts = ['key', 'group', 'id'].map((name) => new arrow.Field(name, new arrow.Utf8(), false))
    this.schema = new arrow.Schema([...texts, new arrow.Field('vector', vectorType(arrow, dimensions), true)])
  }

  async encoded(rows: readonly VectorRow[]): Promise<ArrowTable> {
    const { makeData, vectorFromArray, RecordBatch, Struct, Table, Utf8 } = this.#arrow
    const length = rows.length
    const texts = [rows.map(({ key }) => key), rows.map(({ group }) => group), rows.map(({ id }) => id)]
    const children = [
      ...texts.map((column) => vectorFromArray(column, new Utf8()).data[0]),
      await vectorColumn(
        this.#arrow,
        this.#dimensions,
        rows.map(({ numbers }) => numbers),
      ),
    ]
    const struct = makeData({ type: new Struct(this.schema.fields), length, nullCount: 0, children })
    return new Table(this.schema, [new RecordBatch(this.schema, struct)])
  }
}

export const vectorType = (arrow: ArrowPackage, dimensions: number): object =>
  new arrow.FixedSizeList(dimensions, new arrow.Field('item', new arrow.Float32(), true))

/** Encodes vectors, a share in each turn of the event loop. One that is empty or has no direction is null. */
export const vectorColumn = async (
  arrow: ArrowPackage,
  dimensions: number,
  vectors: readonly Int8Array[],
): Promise<object> => {
  const { makeData, Float32 } = arrow
  const { length } = vectors
  const numbers = new Float32Array(length * dimensions)
  const directed = new Uint8Array(Math.ceil(length / 8))
  const vectorsEach = Math.ceil(numbersEach / dimensions)
  let nullCount = 0
  for (const [at, vector] of vectors.entries()) {
    if (at > 0 && at % vectorsEach === 0) await nextTurn()
    numbers.set(vector, at * dimensions)
    if (vector.some((number) => number !== 0)) directed[at >> 3] = (directed[at >> 3] ?? 0) | (1 << (at & 7))
    else nullCount++
  }
  const child = makeData({ type: new Float32(), length: numbers.length, data: numbers, nullCount: 0 })
  return makeData({ type: vectorType(arrow, dimensions), length, child, nullCount, nullBitmap: directed })
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
