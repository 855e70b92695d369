import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { badImage } from './image-sources.ts'

/** Bytes read from the beginning of an image to detect its type: a multiple of three. */
const headBytes = 48

/** Characters of one step: a multiple of four, so that each piece can be decoded separately. */
const pieceChars = 64 * 1024

const space = 0x20

/** Base64 without whitespace, the size of what it encodes, and its first bytes. */
interface ImageBase64 {
  readonly text: string
  readonly size: number
  readonly head: Uint8Array
}

/** Checks the base64 of an image in shares of the loop. @throws {ServiceError} `bad_request` when it is not base64. */
export const readBase64 = async (given: string, at: string): Promise<ImageBase64> => {
  const text = (await runInSlices(match(given, /^\S*$/))) ? given : await runInSlices(joined(given))
  const digits = text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length
  if (digits % 4 === 1 || !(await runInSlices(match(text.slice(0, digits), /^[A-Za-z0-9+/]*$/))))
    throw badImage(at, 'is not base64')
  return { text, size: Math.floor((digits * 3) / 4), head: Buffer.from(text.slice(0, (headBytes / 3) * 4), 'base64') }
}

/** Decodes base64 in shares of the loop. */
export const decodeBase64 = ({ text, size }: Pick<ImageBase64, 'text' | 'size'>): Promise<Buffer> =>
  runInSlices(decoded(text, Buffer.allocUnsafe(size)))

function* match(text: string, pattern: RegExp): SlicedWork<boolean> {
  for (const piece of piecesOf(text)) {
    if (!pattern.test(piece)) return false
    yield
  }
  return true
}

/**
 * Removes whitespace, which may be every second character: in bytes, since `replace` needs 20 times as long for it. Text
 * with other characters than base64 has is returned as it is.
 */
function* joined(given: string): SlicedWork<string> {
  const bytes = Buffer.allocUnsafe(given.length)
  let length = 0
  for (const piece of piecesOf(given)) {
    if (!/^[\w+/=\s]*$/.test(piece)) return given
    const from = length
    const end = from + bytes.write(piece, from, 'latin1')
    for (let at = from; at < end; at++) {
      const code = bytes[at] ?? 0
      if (code > space) bytes[length++] = code
    }
    yield
  }
  return bytes.toString('latin1', 0, length)
}

function* decoded(text: string, bytes: Buffer): SlicedWork<Buffer> {
  let at = 0
  for (const piece of piecesOf(text)) {
    at += bytes.write(piece, at, 'base64')
    yield
  }
  return bytes
}

function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; from += pieceChars) yield text.slice(from, from + pieceChars)
}
