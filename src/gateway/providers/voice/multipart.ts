import { randomBytes } from 'node:crypto'
import type { AudioContainer } from '#specs/audio.ts'

/** An encoded `multipart/form-data` body with one file. */
export interface FilledForm {
  readonly contentType: string
  readonly body: Buffer
}

/** Content types that providers accept for each container. */
export const containerTypes: Readonly<Record<AudioContainer, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  webm: 'audio/webm',
  mp4: 'audio/mp4',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
}

/**
 * Encodes a `multipart/form-data` body (RFC 7578). The file is given a generated name: providers detect the container
 * by the extension, and the caller's own file name is not disclosed to them.
 */
export const filledForm = (
  fields: readonly (readonly [name: string, value: string])[],
  file: { readonly field: string; readonly container: AudioContainer; readonly bytes: Uint8Array },
): FilledForm => {
  const boundary = `----form-${randomBytes(16).toString('hex')}`
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const head =
    `--${boundary}\r\ncontent-disposition: form-data; name="${file.field}"; filename="audio.${file.container}"\r\n` +
    `content-type: ${containerTypes[file.container]}\r\n\r\n`
  const body = Buffer.concat([Buffer.from(parts.join('') + head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)])
  return { contentType: `multipart/form-data; boundary=${boundary}`, body }
}
