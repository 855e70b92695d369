import { isObject, type WireObject } from '#outgoing/wire.ts'
import type { Found, RedactionPolicy, Restorer } from '../call/redaction.ts'
import { redacted } from '../redaction/redacted.ts'

/** Fields of any depth whose values are no text of a person: names, kinds, addresses, files. */
const namesOnly: ReadonlySet<string> = new Set([
  ...['model', 'type', 'role', 'id', 'tool_use_id', 'name', 'format', 'encoding_format', 'return_documents'],
  ...['data', 'media_type', 'url', 'file_id', 'signature', 'input_schema', 'b64_json'],
])

/** A document without personal data, and what turns its answer back; null when there is nothing to turn back. */
export interface RedactedDocument {
  readonly document: WireObject
  readonly restorer: Restorer | null
  readonly found?: Found | undefined
}

/** The document with what a project keeps from providers replaced in all of its texts. */
export const redactedDocument = async (
  document: WireObject,
  policy: RedactionPolicy | null,
): Promise<RedactedDocument> => {
  if (policy?.input !== true) return { document, restorer: null }
  const texts: string[] = []
  mapped(document, (text) => {
    texts.push(text)
    return text
  })
  const { texts: replaced, restorer, found } = await redacted(policy, texts)
  let at = 0
  return { document: mapped(document, (text) => replaced[at++] ?? text), restorer, found }
}

/** The answer with what was replaced in its request put back. */
export const restoredDocument = (answer: WireObject, restorer: Restorer | null): WireObject =>
  restorer === null ? answer : mapped(answer, (text) => restorer.restore(text))

const mapped = (fields: WireObject, change: (text: string) => string): WireObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, changedValue(value, change, namesOnly.has(name))]),
  )

/** @param named a text of this field is a name; what is within an object or a list of that name is not. */
const changedValue = (value: unknown, change: (text: string) => string, named: boolean): unknown => {
  if (typeof value === 'string') return named ? value : change(value)
  if (Array.isArray(value)) return value.map((each) => changedValue(each, change, named))
  return isObject(value) ? mapped(value, change) : value
}
