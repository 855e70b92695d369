import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { endWithin } from '../json-bytes.ts'
import { isObject } from '../wire.ts'
import { pieceBytes } from './json-spans.ts'

/** Number of values counted in one step. */
const valuesAStep = 2_000

/**
 * Counts the fields of all objects in a parsed value. If its JSON text has more names than this, it repeats one, of
 * which the parser used the last.
 */
export function* countFields(value: unknown): SlicedWork<number> {
  const open: unknown[] = [value]
  let fields = 0
  let left = valuesAStep
  while (open.length > 0) {
    const next = open.pop()
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === 'object' && item !== null) open.push(item)
      left -= next.length / 8
    } else if (isObject(next)) {
      const names = Object.keys(next)
      fields += names.length
      left -= 1 + names.length
      for (const name of names) {
        const item = next[name]
        if (typeof item === 'object' && item !== null) open.push(item)
      }
    }
    if (left < 0) {
      yield
      left = valuesAStep
    }
  }
  return fields
}

/** `countFields` of a short value, at once. */
export const fieldsIn = (value: unknown): number => {
  let fields = 0
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) if (typeof value[at] === 'object') fields += fieldsIn(value[at])
  } else if (isObject(value)) {
    for (const name in value) fields += typeof value[name] === 'object' ? 1 + fieldsIn(value[name]) : 1
  }
  return fields
}

/** Maximum length of a reported path. */
const maxShown = 200

const quote = 0x22
const comma = 0x2c
const colon = 0x3a

/** An open object or array, and the scanner's position in it. */
interface Level {
  /** Names seen so far; null for an array. */
  readonly names: Set<string> | null
  name: string
  index: number
}

/**
 * Returns the first name that is repeated in one object, with its path: `messages[0].role`. Null when there is none.
 *
 * @param bytes JSON that has been parsed without error.
 */
export function* repeatedName(bytes: Buffer): SlicedWork<string | null> {
  const levels: Level[] = []
  let isName = false
  let stop = pieceBytes
  for (let at = 0; at < bytes.length; at += 1) {
    if (at > stop) {
      yield
      stop = at + pieceBytes
    }
    const byte = bytes[at]
    const level = levels.at(-1)
    if (byte === quote) {
      const start = at
      for (at = endWithin(bytes, start + 1, stop); at < 0; at = endWithin(bytes, ~at, stop)) {
        yield
        stop = ~at + pieceBytes
      }
      if (!isName || level?.names == null) continue
      level.name = String(JSON.parse(bytes.toString('utf8', start, at + 1)))
      if (level.names.has(level.name)) return pathOf(levels).slice(0, maxShown)
      level.names.add(level.name)
    } else if (byte === 0x7b || byte === 0x5b) {
      isName = byte === 0x7b
      levels.push({ names: isName ? new Set() : null, name: '', index: 0 })
    } else if (byte === 0x7d || byte === 0x5d) levels.pop()
    else if (byte === colon) isName = false
    else if (byte === comma && level !== undefined) {
      isName = level.names !== null
      level.index += 1
    }
  }
  return null
}

const pathOf = (levels: readonly Level[]): string =>
  levels.reduce((path, { names, name, index }) => {
    if (names === null) return `${path}[${index}]`
    return path === '' ? name : `${path}.${name}`
  }, '')
