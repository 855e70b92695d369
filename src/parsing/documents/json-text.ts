import { maxExtractedLength } from '#specs/resources/knowledge/knowledge-limits.ts'
import { DocumentRefused } from './document-refused.ts'

/** A list or an object whose values are being written. */
interface Level {
  readonly path: string
  /** Null for a list. */
  readonly names: readonly string[] | null
  readonly values: readonly unknown[]
  /** Index of the next value. */
  at: number
}

/**
 * Converts a JSON document to text: one line per value, preceded by its path, and one paragraph per object of a list.
 * Values are visited in place: a copy of a list of millions of them would take seconds in which the worker cannot be
 * terminated.
 *
 * @throws {DocumentRefused} {SyntaxError}
 */
export const jsonText = (text: string): string => {
  const lines: string[] = []
  const open: Level[] = [{ path: '', names: null, values: [JSON.parse(text)], at: 0 }]
  let length = 0
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    if (level.at === level.values.length) {
      open.pop()
      continue
    }
    const value = level.values[level.at]
    const path = pathOf(level.path, level.names?.[level.at])
    level.at += 1
    if (typeof value === 'object' && value !== null) {
      const inner = levelOf(path, value)
      open.push(inner)
      if (inner.names === null ? inner.values.some((each) => typeof each === 'object') : lines.length > 0)
        lines.push('')
      continue
    }
    const line = path === '' ? String(value) : `${path}: ${value}`
    length += line.length + 1
    if (length > maxExtractedLength) throw new DocumentRefused('too_much_text')
    lines.push(line)
  }
  return lines.join('\n')
}

const levelOf = (path: string, value: object): Level =>
  Array.isArray(value)
    ? { path, names: null, values: value, at: 0 }
    : { path, names: Object.keys(value), values: Object.values(value), at: 0 }

const maxPathLength = 200

/** Returns the path of a value. Indices are omitted, since they do not describe an item; the list's name does. */
const pathOf = (path: string, name: string | undefined): string =>
  name === undefined ? path : `${path === '' ? '' : `${path}.`}${name}`.slice(-maxPathLength)
