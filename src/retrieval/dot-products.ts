import { wasmParts } from './schema.ts'

/** Memory layout of the module in bytes: the sums, the query as 16-bit integers, and as many rows as fit after them. */
const sumsAt = 0
const maxRows = 2_048
const queryAt = maxRows * 4
const maxDimensions = 4_096
const rowsAt = queryAt + maxDimensions * 2
const pages = 3
const rowBytes = pages * 65_536 - rowsAt

const [i32, v128, none] = [0x7f, 0x7b, 0x40]
/** Indices of the function's locals: its parameters, then its variables. */
const [row, end, width, query, out, stop, q, sum] = [0, 1, 2, 3, 4, 5, 6, 7]
const get = (local: number): readonly number[] => [0x20, local]
const set = (local: number): readonly number[] => [0x21, local]
const add = [0x6a]
const lessThan = [0x49]
const loop = [0x03, none]
const again = [0x0d, 0]
const done = [0x0b]
const step = (local: number, by: number): readonly number[] => [...get(local), 0x41, by, ...add, ...set(local)]
const lane = (which: number): readonly number[] => [...get(sum), 0xfd, 0x1b, which]
const zero = [0xfd, 0x0c, ...new Array<number>(16).fill(0)]
/**
 * SIMD instructions: load 8 bytes as 16-bit integers; load 8 16-bit integers; multiply and add pairs; add four 32-bit
 * integers.
 */
const [loadBytes, loadQuery, multiply, addFour] = [
  [0xfd, 0x01, 0, 0],
  [0xfd, 0x00, 0, 0],
  [0xfd, 0xba, 0x01],
  [0xfd, 0xae, 0x01],
]

/** Stores in `out`, for each row of `width` bytes from `row` to `end`, its dot product with the query. */
const code = [
  ...[2, 2, i32, 1, v128],
  ...loop,
  ...[...get(row), ...get(width), ...add, ...set(stop), ...get(query), ...set(q), ...zero, ...set(sum)],
  ...loop,
  ...[...get(row), ...loadBytes, ...get(q), ...loadQuery, ...multiply, ...get(sum), ...addFour, ...set(sum)],
  ...[...step(q, 16), ...step(row, 8), ...get(row), ...get(stop), ...lessThan, ...again],
  ...done,
  ...[...get(out), ...lane(0), ...lane(1), ...add, ...lane(2), ...add, ...lane(3), ...add, 0x36, 2, 0],
  ...[...step(out, 4), ...get(row), ...get(end), ...lessThan, ...again],
  ...[...done, ...done],
]

const length = (count: number): readonly number[] => (count < 128 ? [count] : [(count & 127) | 128, count >> 7])
const section = (id: number, bytes: readonly number[]): readonly number[] => [id, ...length(bytes.length), ...bytes]
const named = (name: string): readonly number[] => [name.length, ...Buffer.from(name)]

const moduleBytes = (): Uint8Array<ArrayBuffer> =>
  new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 5, i32, i32, i32, i32, i32, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, pages]),
    ...section(7, [2, ...named('memory'), 2, 0, ...named('dots'), 0, 0]),
    ...section(10, [1, ...length(code.length), ...code]),
  ])

/** Computes dot products, eight multiplications at a time. */
export interface DotProducts {
  /**
   * Returns the number of rows with this many dimensions that fit into one `run`; 0 when the length is not supported.
   */
  maxRows(dimensions: number): number
  /** Returns the dot products of contiguous rows with the query; valid until the next call. */
  run(rows: Int8Array, query: Int16Array): Int32Array
}

const opened = (): DotProducts | null => {
  const { dots, memory } = wasmParts(moduleBytes())
  if (dots === null || memory === null) return null
  const sums = new Int32Array(memory, sumsAt, maxRows)
  const numbers = new Int16Array(memory, queryAt, maxDimensions)
  const table = new Int8Array(memory, rowsAt, rowBytes)
  return {
    maxRows: (dimensions) =>
      dimensions % 8 !== 0 || dimensions > maxDimensions ? 0 : Math.min(maxRows, Math.floor(rowBytes / dimensions)),
    run: (rows, query) => {
      numbers.set(query)
      table.set(rows)
      dots(rowsAt, rowsAt + rows.length, query.length, queryAt, sumsAt)
      return sums
    },
  }
}

let products: DotProducts | null | undefined

/**
 * Returns an implementation by SIMD instructions (specs/decisions/0127-retrieval.md); null where they are not
 * available.
 */
export const dotProducts = (): DotProducts | null => {
  products ??= opened()
  return products
}
