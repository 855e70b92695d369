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
  it('is complete if it is no longer than its limit', async () => {
    const { bytes, isCut } = await boundedBody(bodyOf('ab', 'cd'), { maxBytes: 4 })
    expect([bytes.toString(), isCut]).toEqual(['abcd', false])
  })

  it('is cut at its limit and closes its connection when more bytes come', async () => {
    const body = bodyOf('abc', 'def', 'ghi')
    const { bytes, isCut } = await boundedBody(body, { maxBytes: 4 })
    expect([bytes.toString(), isCut, body.destroyed]).toEqual(['abcd', true, true])
  })

  it('throws the error that interrupts it, unless a partial body is enough', async () => {
    await expect(boundedBody(brokenBody('ab'), { maxBytes: 4 })).rejects.toThrow('reset')
    const { bytes, isCut } = await boundedBody(brokenBody('ab'), { maxBytes: 4, partial: true })
    expect([bytes.toString(), isCut]).toEqual(['ab', false])
  })
})
