import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { type BoundedBody, boundedBody } from './bounded-body.ts'

/** Content codings that a request for a page accepts. */
export const acceptedCodings = 'gzip, deflate, br'

/** A body has an unsupported content coding, or too many of them. */
export class UnknownCoding extends Error {
  override readonly name = 'UnknownCoding'
}

/** Maximum number of stacked codings. */
const maxCodings = 2

type Body = AsyncIterable<Uint8Array> & { destroy(): unknown }

/**
 * Reads a body through its content codings up to a limit of decompressed bytes. A larger body is cut there and never
 * held as a whole.
 *
 * @param coding the header `content-encoding`; undefined for none.
 * @throws {UnknownCoding}, and errors of the body or its codings
 */
export const unpackedBody = async (
  body: Body,
  { coding, maxBytes }: { readonly coding: string | undefined; readonly maxBytes: number },
): Promise<BoundedBody> => {
  const codings = (coding ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== '' && each !== 'identity')
  if (codings.length > maxCodings || !codings.every((each) => Object.hasOwn(decoders, each))) {
    body.destroy()
    throw new UnknownCoding(`the coding ${codings.join(', ')} is not read`)
  }
  try {
    const packed = codings.length === 0 ? body : upTo(body, maxBytes + overheadBytes)
    let unpacked = packed
    for (const each of codings.toReversed()) unpacked = await decodedBy(unpacked, each)
    return await boundedBody(unpacked, { maxBytes })
  } catch (error) {
    if (error instanceof TooManyBytes) return { bytes: Buffer.alloc(0), isCut: true }
    throw error
  } finally {
    // bytes after the end of a coding, or after an error in it, are not awaited
    body.destroy()
  }
}

class TooManyBytes extends Error {}

/** Maximum overhead of compression: how much larger than its content a compressed body may be. */
const overheadBytes = 64 * 1024

/** Limits compressed bytes as well, since some codings allow any number of blocks that decompress to nothing. */
const upTo = (body: Body, maxBytes: number): Body => ({
  destroy: () => body.destroy(),
  [Symbol.asyncIterator]: async function* () {
    let left = maxBytes
    for await (const part of body) {
      left -= part.length
      if (left < 0) throw new TooManyBytes()
      yield part
    }
  },
})

const decoders: Readonly<Record<string, (first: Uint8Array) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  br: () => createBrotliDecompress(),
  // servers send both the zlib format, which the coding means, and the raw stream
  deflate: (first) => (((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()),
}

const decodedBy = async (body: Body, coding: string): Promise<Body> => {
  const parts = body[Symbol.asyncIterator]()
  const first = await parts.next()
  if (first.done === true) return body
  const decoder = decoders[coding]?.(first.value)
  if (decoder === undefined) throw new UnknownCoding(coding)
  void feed(decoder, { first: first.value, parts })
  return {
    [Symbol.asyncIterator]: () => decoder[Symbol.asyncIterator](),
    destroy: () => {
      body.destroy()
      decoder.destroy()
    },
  }
}

/** Writes parts as the decoder accepts them, buffering at most one. */
const feed = async (
  decoder: Transform,
  { first, parts }: { readonly first: Uint8Array; readonly parts: AsyncIterator<Uint8Array> },
): Promise<void> => {
  decoder.on('error', () => {})
  try {
    for (let part: Uint8Array | null = first; part !== null && !decoder.destroyed; ) {
      if (!decoder.write(part)) await drained(decoder)
      const next: IteratorResult<Uint8Array> = await parts.next()
      part = next.done === true ? null : next.value
    }
    decoder.end()
  } catch (error) {
    decoder.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

const drained = (decoder: Transform): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      decoder.off('drain', done)
      decoder.off('close', done)
      resolve()
    }
    decoder.on('drain', done)
    decoder.on('close', done)
  })
