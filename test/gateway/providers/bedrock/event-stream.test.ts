import { describe, expect, it } from 'vitest'
import { EventStreamDecoder } from '#gateway/providers/bedrock/event-stream.ts'
import { frame } from '#test/support/clouds/bedrock-server.ts'
import { failureCode } from '../format-harness.ts'

const one = frame({ ':event-type': 'messageStart', ':message-type': 'event' }, { role: 'assistant' })
const two = frame({ ':event-type': 'messageStop', ':message-type': 'event' }, { stopReason: 'end_turn' })

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

  it('that ends inside a message is not whole', () => {
    const decoder = new EventStreamDecoder()
    decoder.push(one.subarray(0, one.length - 1))
    expect(decoder.isInside).toBe(true)
  })
})
