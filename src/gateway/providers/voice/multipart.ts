import { randomBytes } from 'node:crypto'
import type { AudioContainer } from '#specs/audio.ts'

/** A form with one file. */
export interface FilledForm {
  readonly contentType: string
  readonly body: Buffer
}

/** Content types of containers as providers know them. */
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
 * A `multipart/form-data` body (RFC 7578). The file's name is ours: providers read the container from its ending, and what a
 * caller's file is called stays here.
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
