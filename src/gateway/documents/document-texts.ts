import { isObject, type WireObject } from '#outgoing/wire.ts'
import type { RedactionPolicy } from '../call/redaction.ts'

/** Fields of any depth whose values are no text of a person: names, kinds, addresses, files. */
const namesOnly: ReadonlySet<string> = new Set([
  ...['model', 'type', 'role', 'id', 'tool_use_id', 'name', 'format', 'encoding_format', 'return_documents'],
  ...['data', 'media_type', 'url', 'file_id', 'signature', 'input_schema'],
])

/** The document with what a project keeps from providers replaced in all of its texts. */
export const redactedDocument = (document: WireObject, policy: RedactionPolicy | null): WireObject => {
  if (policy?.input !== true) return document
  const texts: string[] = []
  mapped(document, (text) => {
    texts.push(text)
    return text
  })
  const redacted = policy.redact(texts).texts
  let at = 0
  return mapped(document, (text) => redacted[at++] ?? text)
}

const mapped = (fields: WireObject, change: (text: string) => string): WireObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, namesOnly.has(name) ? value : redactedValue(value, change)]),
  )

const redactedValue = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => redactedValue(each, change))
  return isObject(value) ? mapped(value, change) : value
}
