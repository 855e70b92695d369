import { StringDecoder } from 'node:string_decoder'
import { ServiceError } from '#specs/errors/errors.ts'
import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { mimeTypeOf } from './mime-type.ts'

/** A file of a form. */
export interface FormFile {
  readonly field: string
  readonly filename: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** A multipart form: text fields in order, and files. */
export interface Form {
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly files: readonly FormFile[]
}

/** Maximum number of parts; no real form has more. */
const maxParts = 128

/** Maximum size of the headers of one part, including the file name. */
const maxHeadBytes = 16 * 1024

const refuse = (message: string): ServiceError => new ServiceError('bad_request', { message })

/** The boundary of a `multipart/form-data` content type; null for any other type. */
export const boundaryOf = (contentType: string | undefined): string | null => {
  const type = mimeTypeOf(contentType)
  const boundary = type?.essence === 'multipart/form-data' ? (type.params.get('boundary') ?? '') : ''
  return boundary === '' || boundary.length > 70 ? null : boundary
}

/** Bytes that are decoded or searched in one step. */
const stepBytes = 256 * 1024

/**
 * Parses a form (RFC 7578) in steps, since its texts may be long.
 *
 * @throws {ServiceError} `bad_request` for a malformed form.
 */
export function* parseForm(body: Buffer, boundary: string): SlicedWork<Form> {
  const fields: (readonly [string, string])[] = []
  const files: FormFile[] = []
  for (const part of yield* partsOf(body, boundary)) {
    const end = part.indexOf('\r\n\r\n')
    if (end < 0) throw refuse('The headers of a part of the form are incomplete.')
    if (end > maxHeadBytes) throw refuse(`The headers of a part of the form have more than ${maxHeadBytes} bytes.`)
    const head = headOf(part.toString('utf8', 0, end))
    const content = part.subarray(end + 4)
    if (head.filename === null) fields.push([head.name, yield* textOf(content)])
    else files.push({ field: head.name, filename: head.filename, contentType: head.contentType, bytes: content })
  }
  return { fields, files }
}

function* textOf(bytes: Buffer): SlicedWork<string> {
  if (bytes.length <= stepBytes) return bytes.toString('utf8')
  const decoder = new StringDecoder('utf8')
  let text = ''
  for (let at = 0; at < bytes.length; at += stepBytes) {
    text += decoder.write(bytes.subarray(at, at + stepBytes))
    yield
  }
  return text + decoder.end()
}

function* partsOf(body: Buffer, boundary: string): SlicedWork<readonly Buffer[]> {
  const mark = Buffer.from(`\r\n--${boundary}`)
  const first = mark.subarray(2)
  const parts: Buffer[] = []
  const before = body.subarray(0, first.length).equals(first) ? -2 : yield* indexOf(body, mark, 0)
  if (before === -1) throw refuse('The form does not contain its boundary.')
  let at = before + mark.length
  while (body.toString('latin1', at, at + 2) !== '--') {
    const line = yield* indexOf(body, lineEnd, at)
    const end = line < 0 ? -1 : yield* indexOf(body, mark, line)
    if (end < 0) throw refuse('The form is incomplete.')
    parts.push(body.subarray(line + 2, Math.max(line + 2, end)))
    if (parts.length > maxParts) throw refuse(`The form has more than ${maxParts} parts.`)
    at = end + mark.length
  }
  return parts
}

const lineEnd = Buffer.from('\r\n')

function* indexOf(body: Buffer, searched: Buffer, from: number): SlicedWork<number> {
  for (let at = from; at < body.length; at += stepBytes) {
    const found = body.subarray(at, at + stepBytes + searched.length - 1).indexOf(searched)
    if (found >= 0) return at + found
    yield
  }
  return -1
}

interface PartHead {
  readonly name: string
  readonly filename: string | null
  readonly contentType: string
}

function headOf(text: string): PartHead {
  const lines = new Map<string, string>()
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    lines.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  const parameters = parametersOf(lines.get('content-disposition') ?? '')
  const name = parameters.get('name')
  if (name === undefined) throw refuse('A part of the form has no name.')
  return {
    name,
    filename: parameters.get('filename*') || (parameters.get('filename') ?? null),
    contentType: (lines.get('content-type') ?? 'application/octet-stream').toLowerCase(),
  }
}

const parameterPattern = /;\s*([\w-]+\*?)\s*=\s*(?:"((?:\\"|[^"])*)"|([^\s;"]*))/g

/**
 * Parameters of a part's Content-Disposition. Browsers write `"` as `%22` and line ends as `%0D%0A` (the HTML
 * standard's multipart encoding), older curls write `\"` (RFC 2616), .NET leaves plain names without quotes, and some
 * clients write non-ASCII names as `filename*` (RFC 5987), alone or together with a simpler `filename`.
 */
const parametersOf = (disposition: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of disposition.matchAll(parameterPattern)) {
    const value = quoted?.replaceAll(/%22|\\"/g, '"').replaceAll('%0D%0A', '\n') ?? plain
    found.set(name.toLowerCase(), name.endsWith('*') ? extendedValue(value) : value)
  }
  return found
}

/** Decodes an RFC 5987 value; '' if it is not UTF-8. */
const extendedValue = (text: string): string => {
  try {
    return decodeURIComponent(/^utf-8'[^']*'(.*)$/i.exec(text)?.[1] ?? '')
  } catch {
    return ''
  }
}
