import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { boundedBody } from '#outgoing/bounded-body.ts'

const bodyOf = (...parts: readonly string[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)))

const brokenBody = (first: string): Readable =>
  Readable.from(
    (async function* () {
      yield Buffer.from(first)
      throw new Error('reset')
    })(),
  )

describe('a bounded body', () => {
  it('is whole up to its limit, that many bytes included', async () => {
    const { bytes, isCut } = await boundedBody(bodyOf('ab', 'cd'), { maxBytes: 4 })
    expect([bytes.toString(), isCut]).toEqual(['abcd', false])
  })

  it('is cut to its limit, and its connection is closed, when more comes', async () => {
    const body = bodyOf('abc', 'def', 'ghi')
    const { bytes, isCut } = await boundedBody(body, { maxBytes: 4 })
    expect([bytes.toString(), isCut, body.destroyed]).toEqual(['abcd', true, true])
  })

  it('throws what breaks it off, unless a part of it is enough', async () => {
    await expect(boundedBody(brokenBody('ab'), { maxBytes: 4 })).rejects.toThrow('reset')
    const { bytes, isCut } = await boundedBody(brokenBody('ab'), { maxBytes: 4, partial: true })
    expect([bytes.toString(), isCut]).toEqual(['ab', false])
  })
})
