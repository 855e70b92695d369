import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { EventStreamDecoder } from '#gateway/providers/bedrock/event-stream.ts'
import { frame } from '#test/support/clouds/bedrock-server.ts'
import { minCpuMs } from '#test/support/min-cpu-ms.ts'
import { failureCode } from '../format-harness.ts'

const one = frame({ ':event-type': 'messageStart', ':message-type': 'event' }, { role: 'assistant' })
const two = frame({ ':event-type': 'messageStop', ':message-type': 'event' }, { stopReason: 'end_turn' })

const numbered = (count: number) => Array.from({ length: count }, (_, at) => [`header-${at}`, 'value'] as const)

/** The message with another length of its headers, and checksums that are right. */
const withHeaderLength = (message: Buffer, length: number): Buffer => {
  const bytes = Buffer.from(message)
  bytes.writeUInt32BE(length, 4)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4)
  return bytes
}

describe('an event stream of AWS', () => {
  it('is split into its messages, wherever its bytes are split', () => {
    const bytes = Buffer.concat([one, two])
    for (let size = 1; size <= bytes.length; size++) {
      const decoder = new EventStreamDecoder()
      const found = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        decoder.push(bytes.subarray(at * size, (at + 1) * size)),
      ).flat()
      expect(found.map(({ json }) => json)).toEqual([{ role: 'assistant' }, { stopReason: 'end_turn' }])
      expect(found[1]?.headers).toEqual({ ':event-type': 'messageStop', ':message-type': 'event' })
      expect(decoder.isInside).toBe(false)
    }
  })

  it('is broken by any changed byte', () => {
    for (let at = 0; at < one.length; at++) {
      const bytes = Buffer.from(one)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      expect(
        failureCode(() => new EventStreamDecoder().push(bytes)),
        `byte ${at}`,
      ).toBe('provider_stream_broken')
    }
  })

  it('that ends inside a message is not whole, at whichever byte', () => {
    for (let length = 1; length < one.length; length++) {
      const decoder = new EventStreamDecoder()
      expect(decoder.push(one.subarray(0, length))).toEqual([])
      expect(decoder.isInside, `byte ${length}`).toBe(true)
    }
  })

  it.each([
    ['headers without end', () => frame(Object.fromEntries(numbered(2_000)), {})],
    ['a payload without end', () => frame({}, { text: 'x'.repeat(5_000_000) })],
    ['headers that are longer than it', () => withHeaderLength(one, one.length)],
    ['a header that is longer than the headers', () => withHeaderLength(one, 20)],
  ])('is broken by a message with %s, though its checksums are right, before more of it is read', (_, made) => {
    const bytes = made()
    const spentMs = minCpuMs(() =>
      expect(failureCode(() => new EventStreamDecoder().push(bytes))).toBe('provider_stream_broken'),
    )
    expect(spentMs).toBeLessThan(50)
  })
})
