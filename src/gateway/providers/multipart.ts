import { randomBytes } from 'node:crypto'

/** An encoded `multipart/form-data` body. */
export interface FilledForm {
  readonly contentType: string
  readonly body: Buffer
}

/** A file of a form. Providers detect its type by the ending of its name. */
interface FormFile {
  readonly field: string
  readonly ending: string
  readonly type: string
  readonly bytes: Uint8Array
}

/**
 * Encodes a `multipart/form-data` body (RFC 7578). Files are given generated names, so the caller's own are not
 * disclosed to providers. The names of fields must not have quotes or line ends.
 */
export const filledForm = (
  fields: readonly (readonly [name: string, value: string | Uint8Array])[],
  files: readonly FormFile[],
): FilledForm => {
  const boundary = `----form-${randomBytes(16).toString('hex')}`
  const head = (name: string, rest: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${rest}\r\n\r\n`
  const parts = fields.flatMap(([name, value]) => [
    ...[Buffer.from(head(name, '')), typeof value === 'string' ? Buffer.from(value) : value, Buffer.from('\r\n')],
  ])
  const uploads = files.flatMap(({ field, ending, type, bytes }) => {
    const filename = `${type.slice(0, type.indexOf('/'))}.${ending}`
    return [Buffer.from(head(field, `; filename="${filename}"\r\ncontent-type: ${type}`)), bytes, Buffer.from('\r\n')]
  })
  const body = Buffer.concat([...parts, ...uploads, Buffer.from(`--${boundary}--\r\n`)])
  return { contentType: `multipart/form-data; boundary=${boundary}`, body }
}
