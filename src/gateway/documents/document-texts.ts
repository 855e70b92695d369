import { isObject, type WireObject } from '#outgoing/wire.ts'
import type { Found, RedactionPolicy, Restorer } from '../call/redaction.ts'
import { redacted } from '../redaction/redacted.ts'

/** Fields, at any depth, whose values are never personal text: names, types, URLs, files. */
const namesOnly: ReadonlySet<string> = new Set([
  ...['model', 'type', 'role', 'id', 'tool_use_id', 'name', 'format', 'encoding_format', 'return_documents'],
  ...['data', 'media_type', 'url', 'file_id', 'signature', 'input_schema', 'b64_json'],
])

/**
 * A document without personal data, and the restorer for its response; the restorer is null when there is nothing to
 * restore.
 */
export interface RedactedDocument {
  readonly document: WireObject
  readonly restorer: Restorer | null
  readonly found?: Found | undefined
}

/** Redacts all texts of a document by the project's policy. */
export const redactedDocument = async (
  document: WireObject,
  policy: RedactionPolicy | null,
): Promise<RedactedDocument> => {
  if (policy?.input !== true) return { document, restorer: null }
  const { texts: all, put } = textsOf(document)
  const { texts, restorer, found } = await redacted(policy, all)
  return { document: put(texts), restorer, found }
}

/** Returns the texts of a document in order, and the function that puts others in their places. */
export const textsOf = (document: WireObject) => {
  const texts: string[] = []
  mapped(document, (text) => {
    texts.push(text)
    return text
  })
  const put = (made: readonly string[]): WireObject => {
    let at = 0
    return mapped(document, (text) => made[at++] ?? text)
  }
  return { texts, put }
}

/** Restores redacted values in a response. */
export const restoredDocument = (answer: WireObject, restorer: Restorer | null): WireObject =>
  restorer === null ? answer : mapped(answer, (text) => restorer.restore(text))

const mapped = (fields: WireObject, change: (text: string) => string): WireObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, changedValue(value, change, namesOnly.has(name))]),
  )

/**
 * @param named whether strings in this field are names and stay unchanged; fields of nested objects are judged by their
 * own names.
 */
const changedValue = (value: unknown, change: (text: string) => string, named: boolean): unknown => {
  if (typeof value === 'string') return named ? value : change(value)
  // a body may have 800,000 numbers, which have no texts
  if (Array.isArray(value) && value.every((each) => typeof each === 'number')) return value
  if (Array.isArray(value)) return value.map((each) => changedValue(each, change, named))
  return isObject(value) ? mapped(value, change) : value
}
