import { type Column, type ColumnPlace, placesIn } from './schema.ts'

const alignment = 8
/** Two numbers of 32 bits: the version of the format, and the length of the places. */
const header = 8
const version = 2

const aligned = (length: number): number => Math.ceil(length / alignment) * alignment
const bytesOf = ({ buffer, byteOffset, byteLength }: Column): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** A segment of another version of the format: it is made anew. */
export class UnknownFormat extends Error {
  override readonly name = 'UnknownFormat'
}

/** Text as a column: items are joined by line ends, which none may contain. */
export const textColumn = (items: readonly string[]): Uint8Array => Buffer.from(items.join('\n'))

/**
 * Joins columns into one array of bytes, each at a multiple of 8, so that they are read as they are: the platform's order
 * of bytes is little-endian on every platform that Node supports.
 */
export function packed(columns: Readonly<Record<string, Column>>): Uint8Array {
  const places: Record<string, ColumnPlace> = {}
  let length = 0
  for (const [name, { byteLength }] of Object.entries(columns)) {
    places[name] = [length, byteLength]
    length = aligned(length + byteLength)
  }
  const named = Buffer.from(JSON.stringify(places))
  const from = aligned(header + named.length)
  const bytes = new Uint8Array(from + length)
  new Uint32Array(bytes.buffer, 0, 2).set([version, named.length])
  bytes.set(named, header)
  for (const [name, column] of Object.entries(columns)) bytes.set(bytesOf(column), from + (places[name]?.[0] ?? 0))
  return bytes
}

/** Columns that `packed` joined, as views of the bytes. */
export class Columns {
  readonly #buffer: ArrayBufferLike
  readonly #places: Readonly<Record<string, ColumnPlace>>
  readonly #from: number
  readonly size: number

  /**
   * @param bytes start at a multiple of 8 of their buffer.
   * @throws {UnknownFormat}
   */
  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    const [format, named = 0] = new Uint32Array(buffer, byteOffset, 2)
    if (format !== version) throw new UnknownFormat(`a segment has format ${format}, not ${version}`)
    this.#buffer = buffer
    this.#places = placesIn(Buffer.from(buffer, byteOffset + header, named).toString())
    this.#from = byteOffset + aligned(header + named)
    this.size = byteLength
  }

  bytes(name: string): Uint8Array {
    return new Uint8Array(...this.#place(name, 1))
  }

  signed(name: string): Int8Array {
    return new Int8Array(...this.#place(name, 1))
  }

  integers(name: string): Int32Array {
    return new Int32Array(...this.#place(name, 4))
  }

  words(name: string): Uint32Array {
    return new Uint32Array(...this.#place(name, 4))
  }

  floats(name: string): Float32Array {
    return new Float32Array(...this.#place(name, 4))
  }

  doubles(name: string): Float64Array {
    return new Float64Array(...this.#place(name, 8))
  }

  text(name: string): string {
    const { buffer, byteOffset, byteLength } = this.bytes(name)
    return Buffer.from(buffer, byteOffset, byteLength).toString()
  }

  /** The items of a `textColumn`. */
  items(name: string): readonly string[] {
    const text = this.text(name)
    return text === '' ? [] : text.split('\n')
  }

  #place(name: string, bytesEach: number): [buffer: ArrayBufferLike, at: number, length: number] {
    const [at, bytes] = this.#places[name] ?? [0, 0]
    return [this.#buffer, this.#from + at, bytes / bytesEach]
  }
}
