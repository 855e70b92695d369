import { isObject } from '../wire.ts'
import { inShares, type Steps } from './in-shares.ts'
import { pieceBytes } from './json-spans.ts'

/** Characters, and a dozen for each value, from which on a document is long. */
const longSize = 64 * 1024

/** What a value weighs beside its texts, which is about what it takes to write it. */
const valueSize = 12

/** Whether to write a document as JSON would hold the loop. Of a long one only the beginning is looked at. */
export const isLong = (document: unknown): boolean => sizeOf(document, longSize) < 0

/** What is left of a size; negative when there is not enough of it. */
const sizeOf = (value: unknown, most: number): number => {
  if (typeof value === 'string') return most - value.length
  let left = most - valueSize
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

/** The body of a request; a long one is being written. */
export type WireBody = string | Uint8Array | Promise<string | Uint8Array>

/** A document as JSON; a long one is written in shares of the loop. */
export const encodeJson = (document: object): WireBody =>
  isLong(document) ? inShares(encodeInSteps(document)) : JSON.stringify(document)

/**
 * What `JSON.stringify` writes of plain data, as UTF-8, in steps.
 *
 * @param namesOf the fields of an object in the order in which they are written.
 */
export function* encodeInSteps(value: unknown, namesOf: NamesOf = Object.keys): Steps<Buffer> {
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

/** Text that becomes bytes once there is enough of it. */
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

function* write(value: unknown, pieces: Pieces): Steps<void> {
  if (typeof value === 'string' && value.length > pieceBytes) yield* writeText(value, pieces)
  else if (Array.isArray(value)) yield* writeList(value, pieces)
  else if (isObject(value)) yield* writeObject(value, pieces)
  else pieces.add(JSON.stringify(value) ?? 'null')
  if (pieces.isFull) {
    pieces.flush()
    yield
  }
}

function* writeList(list: readonly unknown[], pieces: Pieces): Steps<void> {
  pieces.add('[')
  for (let at = 0; at < list.length; at++) {
    if (at > 0) pieces.add(',')
    yield* write(list[at], pieces)
  }
  pieces.add(']')
}

function* writeObject(object: { readonly [name: string]: unknown }, pieces: Pieces): Steps<void> {
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

/** Cut where no pair of surrogates is: half of one is written as its number. */
function* writeText(text: string, pieces: Pieces): Steps<void> {
  pieces.add('"')
  for (let at = 0; at < text.length; ) {
    const most = at + pieceBytes
    const cut = most < text.length && isHigh(text.charCodeAt(most - 1)) ? most - 1 : most
    pieces.add(JSON.stringify(text.slice(at, cut)).slice(1, -1))
    pieces.flush()
    at = cut
    yield
  }
  pieces.add('"')
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
