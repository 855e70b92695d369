import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { isObject } from '../wire.ts'
import { pieceBytes } from './json-spans.ts'

/** Size from which a document is long: its characters, plus a dozen for each value. */
const longSize = 64 * 1024

/** Size of a value in addition to its text, about in proportion to the time it takes to write. */
const valueSize = 12

/** Whether serialising a document would block the event loop. Of a long one, only the beginning is visited. */
export const isLong = (document: unknown): boolean => sizeOf(document, longSize) < 0

/** The remainder of a size budget; negative when it is exceeded. */
const sizeOf = (value: unknown, max: number): number => {
  if (typeof value === 'string') return max - value.length
  let left = max - valueSize
  if (Array.isArray(value)) {
    for (const item of value) {
      left = sizeOf(item, left)
      if (left < 0) return left
    }
  } else if (isObject(value)) {
    for (const name in value) {
      left = sizeOf(value[name], left - name.length)
      if (left < 0) return left
    }
  }
  return left
}

/** The body of a request; a promise while a long one is being serialised. */
export type WireBody = string | Uint8Array | Promise<string | Uint8Array>

/** Serialises a document as JSON; a long one over several loop turns. */
export const encodeJson = (document: object): WireBody =>
  isLong(document) ? runInSlices(encodeInSteps(document)) : JSON.stringify(document)

/**
 * Serialises plain data like `JSON.stringify`, as UTF-8, in steps.
 *
 * @param namesOf returns the fields of an object in the order to write them.
 */
export function* encodeInSteps(value: unknown, namesOf: NamesOf = Object.keys): SlicedWork<Buffer> {
  const pieces = new Pieces(namesOf)
  yield* write(value, pieces)
  return pieces.whole()
}

/** The first 32 K characters of a document as JSON, or all of a shorter one. */
export const beginningOfJson = (document: object): string => {
  const pieces = new Pieces(Object.keys)
  write(document, pieces).next()
  return pieces.whole().toString('utf8')
}

type NamesOf = (object: object) => readonly string[]

/** Collects text and encodes it as bytes piece by piece. */
class Pieces {
  readonly namesOf: NamesOf
  readonly #parts: Buffer[] = []
  #text = ''

  constructor(namesOf: NamesOf) {
    this.namesOf = namesOf
  }

  add(text: string): void {
    this.#text += text
  }

  get isFull(): boolean {
    return this.#text.length >= pieceBytes
  }

  flush(): void {
    this.#parts.push(Buffer.from(this.#text))
    this.#text = ''
  }

  whole(): Buffer {
    this.flush()
    return Buffer.concat(this.#parts)
  }
}

function* write(value: unknown, pieces: Pieces): SlicedWork<void> {
  if (typeof value === 'string' && value.length > pieceBytes) yield* writeText(value, pieces)
  else if (Array.isArray(value)) yield* writeList(value, pieces)
  else if (isObject(value)) yield* writeObject(value, pieces)
  else pieces.add(JSON.stringify(value) ?? 'null')
  if (pieces.isFull) {
    pieces.flush()
    yield
  }
}

function* writeList(list: readonly unknown[], pieces: Pieces): SlicedWork<void> {
  pieces.add('[')
  for (let at = 0; at < list.length; at++) {
    if (at > 0) pieces.add(',')
    yield* write(list[at], pieces)
  }
  pieces.add(']')
}

function* writeObject(object: { readonly [name: string]: unknown }, pieces: Pieces): SlicedWork<void> {
  let before = '{'
  for (const name of pieces.namesOf(object)) {
    const value = object[name]
    if (value === undefined) continue
    pieces.add(`${before}${JSON.stringify(name)}:`)
    before = ','
    yield* write(value, pieces)
  }
  pieces.add(before === '{' ? '{}' : '}')
}

/** Writes a string in pieces without splitting a surrogate pair: half of one would be written as an escape. */
function* writeText(text: string, pieces: Pieces): SlicedWork<void> {
  pieces.add('"')
  for (let at = 0; at < text.length; ) {
    const max = at + pieceBytes
    const cut = max < text.length && isHigh(text.charCodeAt(max - 1)) ? max - 1 : max
    pieces.add(JSON.stringify(text.slice(at, cut)).slice(1, -1))
    pieces.flush()
    at = cut
    yield
  }
  pieces.add('"')
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
