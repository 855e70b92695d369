/*
 * Images for `session.send`.
 *
 * await session.send([{ type: 'input_text', text: 'What is this?' }, await imagePart(file)])
 */
import { TroupeError } from './errors.ts'
import type { InputImage } from './messages.ts'

/** An image: its bytes, its address (https or a data URL), or the id of a file of `files.create`. */
export type ImageSource = Blob | Uint8Array | ArrayBuffer | URL | string

/** What may be said of an image. */
export interface ImageOptions {
  /** How much of it the model sees. Default: what the model's provider chooses. */
  readonly detail?: 'auto' | 'low' | 'high'
}

/**
 * Makes the part of a message that shows an image.
 *
 * @throws {TroupeError} (rejects) `unsupported_format` for bytes that are no PNG, JPEG, WEBP or GIF, and for a text that
 * is neither an address nor the id of a file
 */
export const imagePart = async (source: ImageSource, options: ImageOptions = {}): Promise<InputImage> => {
  if (typeof source !== 'string' && !(source instanceof URL))
    return { type: 'input_image', image_url: await dataUrlOf(source), ...options }
  const text = `${source}`
  if (/^(https:|data:image\/)/i.test(text)) return { type: 'input_image', image_url: text, ...options }
  if (/^file_\w+$/.test(text)) return { type: 'input_image', file_id: text, ...options }
  throw unsupported(`${text.slice(0, 40)} is neither an https address, a data URL of an image, nor the id of a file.`)
}

const unsupported = (message: string): TroupeError => new TroupeError(message, { code: 'unsupported_format' })

/** How images of the formats that every model reads begin, as a text of their first bytes. */
const formats: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8/, 'image/gif'],
  [/^RIFF[\s\S]{4}WEBP/, 'image/webp'],
]

/** Bytes that are encoded at a time, a multiple of three, since arguments of a call are limited. */
const pieceBytes = 3 * 8192

/** The media type is that of the bytes: what a file says it is may be wrong. */
const dataUrlOf = async (source: Blob | Uint8Array | ArrayBuffer): Promise<string> => {
  const bytes = new Uint8Array(source instanceof Blob ? await source.arrayBuffer() : source)
  const textAt = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))
  const head = textAt(0, 16)
  const type = formats.find(([start]) => start.test(head))?.[1]
  const name = source instanceof File ? source.name : 'This'
  if (type === undefined) throw unsupported(`${name} is no image that turns take: PNG, JPEG, WEBP or GIF.`)
  let base64 = ''
  for (let at = 0; at < bytes.length; at += pieceBytes) base64 += btoa(textAt(at, at + pieceBytes))
  return `data:${type};base64,${base64}`
}
