import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { unpackedBody } from '#outgoing/decompression.ts'

const coding = 'gzip'
const maxBytes = 1_000_000

/** An endless body: `first`, then `part` repeatedly. */
const endless = (first: Buffer, part: Buffer): Readable =>
  Readable.from(
    (function* () {
      yield first
      for (;;) yield part
    })(),
  )

describe('a compressed body', () => {
  it('is cut at its limit and closed when it decompresses into more', async () => {
    const body = endless(Buffer.alloc(0), gzipSync(Buffer.alloc(maxBytes * 50)))
    const { bytes, isCut } = await unpackedBody(body, { coding, maxBytes })
    expect({ isCut, length: bytes.length }).toEqual({ isCut: true, length: maxBytes })
    expect(body.destroyed).toBe(true)
  })

  it('is cut when it has endless parts that decompress into nothing', async () => {
    const parts = Buffer.concat(Array.from({ length: 1000 }, () => gzipSync('')))
    const body = endless(gzipSync('hello'), parts)
    expect(await unpackedBody(body, { coding, maxBytes })).toMatchObject({ isCut: true })
    expect(body.destroyed).toBe(true)
  })

  it('is closed with an error when it is not compressed as declared', async () => {
    const body = endless(gzipSync('hello'), Buffer.from('\x1f\x8bgarbage'.repeat(1000)))
    await expect(unpackedBody(body, { coding, maxBytes })).rejects.toMatchObject({ code: 'Z_DATA_ERROR' })
    expect(body.destroyed).toBe(true)
  })

  it('ends with its compressed data, whatever bytes follow', async () => {
    const body = endless(Buffer.concat([gzipSync('hello'), Buffer.alloc(100)]), Buffer.alloc(10_000))
    const { bytes, isCut } = await unpackedBody(body, { coding, maxBytes })
    expect({ text: bytes.toString(), isCut }).toEqual({ text: 'hello', isCut: false })
    expect(body.destroyed).toBe(true)
  })
})
