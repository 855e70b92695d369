import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { backslashesBefore, endOfString } from '../json-bytes.ts'
import { type JsonSpans, pieceBytes } from './json-spans.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Text being parsed, with its long values. */
interface Source {
  readonly bytes: Buffer
  readonly long: JsonSpans['long']
}

/** Strategy for an object or an array: its brackets, and how entries are added. */
interface Container {
  readonly open: string
  readonly close: string
  /** Adds the entries of a parsed piece. @returns their number. */
  readonly addPiece: (piece: unknown) => number
  readonly add: (name: string, value: unknown) => void
  /** Returns the position of the value of the entry at this position; for arrays the position itself. */
  readonly valueAt: (at: number) => number
}

/**
 * Parses UTF-8 like `JSON.parse`, in steps: a long object or array 32 KB of entries at a time, a long string 32 KB at a
 * time. It accepts and refuses the same texts.
 *
 * @param long positions of long values, from `jsonSpans`.
 * @throws {SyntaxError}
 */
export function* parseInSteps(bytes: Buffer, long: JsonSpans['long']): SlicedWork<unknown> {
  let start = 0
  while (isBlank(bytes[start])) start += 1
  const end = long.get(start)
  let after = bytes.length
  while (after > start && isBlank(bytes[after - 1])) after -= 1
  if (end === after) return yield* longValue({ bytes, long }, start, end)
  // a long text that has no end, or continues after its value, is invalid and need not be parsed
  if (after - start > 2 * pieceBytes) throw unexpected(end ?? after)
  return JSON.parse(bytes.toString('utf8', start, after))
}

function* longValue(source: Source, start: number, end: number): SlicedWork<unknown> {
  const { bytes } = source
  if (bytes[start] === quote) return yield* longText(bytes, start, end)
  const isObject = bytes[start] === 0x7b
  if (bytes[end - 1] !== (isObject ? 0x7d : 0x5d)) throw unexpected(end - 1)
  if (isObject) {
    const made: Record<string, unknown> = {}
    yield* fill(source, { start, end }, objectParts(source, made))
    return made
  }
  const made: unknown[] = []
  yield* fill(source, { start, end }, listParts(made))
  return made
}

/** Scans entries until a piece is full; long values are parsed separately. */
function* fill(
  source: Source,
  { start, end }: { readonly start: number; readonly end: number },
  container: Container,
): SlicedWork<void> {
  const { bytes, long } = source
  const last = end - 1
  let piece = start + 1
  let isEmpty = true
  for (let at = piece; ; ) {
    while (isBlank(bytes[at])) at += 1
    const value = container.valueAt(at)
    const valueEnd = long.get(value)
    if (valueEnd === undefined && (value === at || long.get(at) === undefined)) {
      at = endOfEntry(bytes, at, last)
      if (at < last && at - piece < pieceBytes) {
        at += 1
        continue
      }
      // finding the end of a number of megabytes takes as long as parsing it
      if (at - piece > 2 * pieceBytes) yield
      const added = addPiece(bytes, container, { piece, at })
      // an array or an object may be empty, an entry may not
      if (added === 0 && !(at === last && isEmpty)) throw unexpected(at)
    } else {
      // the piece ends at the comma before this entry
      const before = commaBefore(bytes, at, piece)
      if (before !== null && addPiece(bytes, container, { piece, at: before }) === 0) throw unexpected(before)
      if (container.open === '{' && value === at) throw unexpected(at)
      const name = value === at ? '' : yield* nameAt(source, at)
      container.add(name, yield* valueIn(source, value, last))
      at = valueEnd ?? endOfEntry(bytes, value, last)
      while (isBlank(bytes[at])) at += 1
      if (at < last && bytes[at] !== comma) throw unexpected(at)
    }
    yield
    isEmpty = false
    if (at >= last) return
    at += 1
    piece = at
  }
}

const addPiece = (
  bytes: Buffer,
  container: Container,
  { piece, at }: { readonly piece: number; readonly at: number },
): number => container.addPiece(JSON.parse(`${container.open}${bytes.toString('utf8', piece, at)}${container.close}`))

/** Position of the comma before an entry; null when the entry is the first of its piece. */
const commaBefore = (bytes: Buffer, entry: number, piece: number): number | null => {
  let at = entry - 1
  while (at >= piece && isBlank(bytes[at])) at -= 1
  return at < piece ? null : at
}

function* valueIn(source: Source, at: number, last: number): SlicedWork<unknown> {
  const end = source.long.get(at)
  if (end !== undefined) return yield* longValue(source, at, end)
  return JSON.parse(source.bytes.toString('utf8', at, endOfEntry(source.bytes, at, last)))
}

function* nameAt({ bytes, long }: Source, at: number): SlicedWork<string> {
  const end = long.get(at)
  if (end !== undefined) return yield* longText(bytes, at, end)
  const name: unknown = JSON.parse(bytes.toString('utf8', at, endOfString(bytes, at + 1) + 1))
  if (typeof name !== 'string') throw unexpected(at)
  return name
}

/** Position of the comma after a short entry, or of the end of its container. */
const endOfEntry = (bytes: Buffer, from: number, last: number): number => {
  let depth = 0
  for (let at = from; at < last; at += 1) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at + 1)
    else if (byte === 0x7b || byte === 0x5b) depth += 1
    else if (byte === 0x7d || byte === 0x5d) depth -= 1
    else if (byte === comma && depth === 0) return at
  }
  return last
}

const listParts = (into: unknown[]): Container => ({
  open: '[',
  close: ']',
  addPiece: (piece) => {
    const items: readonly unknown[] = Array.isArray(piece) ? piece : []
    for (const item of items) into.push(item)
    return items.length
  },
  add: (_, value) => into.push(value),
  valueAt: (at) => at,
})

const objectParts = ({ bytes, long }: Source, into: Record<string, unknown>): Container => {
  const add = (name: string, value: unknown): void => {
    // an ordinary field, as in JSON.parse
    if (name === '__proto__') Object.defineProperty(into, name, { value, ...plainField })
    else into[name] = value
  }
  return {
    open: '{',
    close: '}',
    addPiece: (piece) => {
      const entries = Object.entries(piece ?? {})
      for (const [name, value] of entries) add(name, value)
      return entries.length
    },
    add,
    valueAt: (at) => {
      if (bytes[at] !== quote) return at
      let value = long.get(at) ?? endOfString(bytes, at + 1) + 1
      while (isBlank(bytes[value])) value += 1
      if (bytes[value] !== colon) return at
      value += 1
      while (isBlank(bytes[value])) value += 1
      return value
    },
  }
}

const plainField = { writable: true, enumerable: true, configurable: true } as const

/** Parses a long string in pieces, cut outside characters and escapes. */
function* longText(bytes: Buffer, start: number, end: number): SlicedWork<string> {
  const parts: string[] = []
  if (bytes[end - 1] !== quote) throw unexpected(end)
  for (let at = start + 1; at < end - 1; ) {
    const cut = at + pieceBytes < end - 1 ? cutBefore(bytes, at, at + pieceBytes) : end - 1
    const part: unknown = JSON.parse(`"${bytes.toString('utf8', at, cut)}"`)
    if (typeof part !== 'string') throw unexpected(at)
    parts.push(part)
    at = cut
    yield
  }
  return parts.join('')
}

/**
 * Returns the last position up to `max` at which a string can be cut.
 *
 * @param from the start of an escape or a character.
 */
const cutBefore = (bytes: Buffer, from: number, max: number): number => {
  for (let at = max - 1; at >= Math.max(from, max - 5); at -= 1) {
    if (bytes[at] !== backslash) continue
    const begins = backslashesBefore(bytes, from, at + 1) % 2 === 1
    const length = bytes[at + 1] === 0x75 ? 6 : 2
    if (begins && at + length > max) return at
    break
  }
  let at = max
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1
  return at
}

const unexpected = (at: number): SyntaxError => new SyntaxError(`Unexpected JSON at position ${at}`)
