import type { Columns } from './columns.ts'
import type { Column } from './schema.ts'

/** Texts as columns, of which each is decoded when it is needed. */
export function* textColumns(
  name: string,
  texts: readonly string[],
): Generator<void, Readonly<Record<string, Column>>, void> {
  const starts = new Int32Array(texts.length + 1)
  const parts: Buffer[] = []
  for (let from = 0; from < texts.length; from += slice) {
    for (let at = from; at < Math.min(texts.length, from + slice); at++)
      starts[at + 1] = (starts[at] ?? 0) + Buffer.byteLength(texts[at] ?? '')
    parts.push(Buffer.from(texts.slice(from, from + slice).join('')))
    yield
  }
  return { [`${name} starts`]: starts, [`${name} bytes`]: Buffer.concat(parts) }
}

const slice = 8_192

/** Texts that `textColumns` wrote. */
export class Texts {
  readonly #starts: Int32Array
  readonly #bytes: Buffer

  constructor(columns: Columns, name: string) {
    this.#starts = columns.integers(`${name} starts`)
    const { buffer, byteOffset, byteLength } = columns.bytes(`${name} bytes`)
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength)
  }

  get size(): number {
    return Math.max(0, this.#starts.length - 1)
  }

  at(place: number): string {
    return this.#bytes.toString('utf8', this.#starts[place] ?? 0, this.#starts[place + 1] ?? 0)
  }
}
