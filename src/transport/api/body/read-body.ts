import type { UploadedFile } from '#actors/call/call.ts'
import { isJsonType, isLongBody, maxValuesOfShort, parseJson } from '#outgoing/shares/json-body.ts'
import { defaultMaxBodyBytes, type Operation } from '#specs/dsl/declare.ts'
import { formFields } from '#specs/dsl/query.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { atOnce, runInSlices } from '#src/concurrency/run-in-slices.ts'
import { boundaryOf, type Form, parseForm } from '#src/pages/multipart-form.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'
import { type AdmittedBody, bytesInto } from './admit-body.ts'

/** A parsed body, not validated against its schema yet. */
export interface ReadBody {
  readonly value: unknown
  readonly files: readonly UploadedFile[]
  /** The JSON that `value` was parsed from. */
  readonly bytes?: Buffer
  /**
   * Whether the body is so long that handling it in one go would block other requests; each stage gets its own loop
   * turn.
   */
  readonly isLong?: boolean
}

const noFiles: readonly UploadedFile[] = []

/**
 * Reads the body of an operation: JSON, or a form if the operation takes files. An absent body counts as `{}`.
 *
 * @param reservation memory of a long body.
 * @throws {ServiceError} `unsupported_media_type`, `malformed_json`, `bad_request`, `overloaded`; {BodyTooLarge},
 * {BodyTooSlow}, {ConnectionClosed}.
 */
export const readBody = (operation: Operation, request: HttpRequest, reservation: AdmittedBody): Promise<ReadBody> =>
  bytesInto(reservation, request, operation.maxBodyBytes).then((bytes) => bodyOf(operation, request, bytes))

const bodyOf = (operation: Operation, request: HttpRequest, bytes: Buffer): ReadBody | Promise<ReadBody> => {
  const contentType = request.header('content-type')
  if (operation.files !== null) {
    const boundary = boundaryOf(contentType)
    if (boundary !== null) return readForm(operation, operation.files.fields, { bytes, boundary })
    if (!operation.files.orJson) throw unsupported('multipart/form-data')
  }
  if (bytes.length === 0) return { value: {}, files: noFiles }
  if (!isJsonType(contentType)) throw unsupported('application/json')
  try {
    const value = parseJson(bytes, operation.maxBodyValues ?? (isShort(operation) ? maxValuesOfShort : undefined))
    if (!(value instanceof Promise)) return { value, files: noFiles, bytes }
    return value.then(
      (late) => ({ value: late, files: noFiles, bytes, isLong: true }),
      (error: unknown) => Promise.reject(refusalOf(request, error)),
    )
  } catch (error) {
    throw refusalOf(request, error)
  }
}

/** Whether the operation's bodies are short: not conversations, texts to embed or documents. */
const isShort = ({ chatBodyBytes, maxBodyBytes }: Operation): boolean =>
  chatBodyBytes === null && maxBodyBytes <= defaultMaxBodyBytes

/** Replaces the parse error of a compressed body: content codings are not supported, and the error says so. */
const refusalOf = (request: HttpRequest, error: unknown): unknown => {
  const coding = request.header('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (coding === 'identity' || coding === '') return error
  const message = 'Content codings of request bodies are not supported.'
  return new ServiceError('unsupported_media_type', { param: 'Content-Encoding', message, cause: error })
}

const unsupported = (type: string): ServiceError =>
  new ServiceError('unsupported_media_type', { param: 'Content-Type', message: `This operation accepts ${type}.` })

const readForm = (
  operation: Operation,
  fields: readonly string[],
  { bytes, boundary }: { readonly bytes: Buffer; readonly boundary: string },
): ReadBody | Promise<ReadBody> => {
  const parsing = parseForm(bytes, boundary)
  const isLong = isLongBody(bytes)
  const read = (form: Form): ReadBody => ({ ...filled(operation, fields, form), isLong })
  return isLong ? runInSlices(parsing).then(read) : read(atOnce(parsing))
}

const filled = (operation: Operation, names: readonly string[], form: Form): ReadBody => {
  const stray = form.files.find((file) => !names.includes(file.field))
  if (stray !== undefined && operation.unknownFields === 'refuse') {
    throw new ServiceError('unknown_field', { param: stray.field })
  }
  const files = form.files.filter((file) => names.includes(file.field))
  return { value: formFields(operation.body?.json ?? {}, form.fields), files }
}
