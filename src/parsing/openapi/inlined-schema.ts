import type { Json, JsonObject } from '#storage/index.ts'

/** Maximum nesting of a schema; deeper parts become `{}`, which accepts anything. */
const maxDepth = 8
/** Maximum number of parts of one schema; further ones become `{}`. */
const maxParts = 2000

const dropped = new Set(['example', 'examples', 'xml', 'externalDocs', 'discriminator'])

/**
 * Returns a part of a document with its internal references resolved; circular ones become `{}`, which accepts
 * anything.
 */
export const inlined = (root: JsonObject, part: Json): Json => {
  let parts = 0
  const fill = (value: Json, depth: number, seen: readonly string[]): Json => {
    parts++
    if (depth > maxDepth || parts > maxParts) return {}
    if (Array.isArray(value)) return value.map((each) => fill(each, depth + 1, seen))
    if (!isRecord(value)) return value
    const { $ref } = value
    if (typeof $ref === 'string') return seen.includes($ref) ? {} : fill(pointed(root, $ref), depth, [...seen, $ref])
    const entries = Object.entries(value).filter(([name]) => !dropped.has(name) && !name.startsWith('x-'))
    return Object.fromEntries(entries.map(([name, each]) => [name, fill(each ?? null, depth + 1, seen)]))
  }
  return fill(part, 0, [])
}

const pointed = (root: JsonObject, reference: string): Json => {
  if (!reference.startsWith('#/')) return {}
  let at: Json = root
  for (const step of reference.slice(2).split('/')) {
    const name = decoded(step)
    if (!isRecord(at) || !Object.hasOwn(at, name)) return {}
    at = at[name] ?? {}
  }
  return at
}

const decoded = (step: string): string => {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

/** Whether a value is an object, and not an array. */
export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
