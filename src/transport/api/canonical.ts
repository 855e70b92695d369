import { createHash } from 'node:crypto'
import { encodeInSteps } from '#outgoing/shares/encode-in-steps.ts'
import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'

/** Bytes that are hashed in one step. */
const stepBytes = 1024 * 1024

/** JSON text with the keys of every object sorted: equal values have equal texts. */
export const canonical = (value: unknown): string => JSON.stringify(value, sortKeys) ?? 'null'

const sortKeys = (_key: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
}

/** SHA-256 of the content in base64url. */
export const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('base64url')

/** The same for long content, in steps. */
export function* hashInSteps(bytes: Uint8Array): SlicedWork<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += stepBytes) {
    hash.update(bytes.subarray(at, at + stepBytes))
    yield
  }
  return hash.digest('base64url')
}

/** Hash of a value's canonical text, in steps. */
export function* canonicalHashInSteps(value: unknown): SlicedWork<string> {
  return yield* hashInSteps(yield* encodeInSteps(value, sortedNames))
}

/** Sorted names in the order that JavaScript gives them in an object: integer names come first. */
const sortedNames = (object: object): readonly string[] =>
  Object.keys(
    Object.fromEntries(
      Object.keys(object)
        .sort(inOrder)
        .map((name) => [name, null]),
    ),
  )

const inOrder = (left: string, right: string): number => (left < right ? -1 : 1)
