import { describe, expect, it } from 'vitest'
import { closePayload, closeReply, encodeFrame, FrameError, FrameReader } from '#outgoing/websocket/websocket-frames.ts'
import { clientFrame } from '#test/transport/http/raw-client.ts'

const readAll = (reader: FrameReader): string[] => {
  const seen: string[] = []
  for (let frame = reader.next(); frame !== null; frame = reader.next()) seen.push(frame.payload.toString())
  return seen
}

describe('WebSocket frames', () => {
  it('are the same wherever their bytes are split', () => {
    const texts = ['', 'a', 'x'.repeat(125), 'y'.repeat(126), 'z'.repeat(70_000)]
    const bytes = Buffer.concat(texts.map((text) => clientFrame(0x81, text)))
    for (const size of [1, 2, 3, 7, 1000, bytes.length]) {
      const reader = new FrameReader(1 << 20)
      const seen: string[] = []
      for (let at = 0; at < bytes.length; at += size) {
        reader.push(bytes.subarray(at, at + size))
        seen.push(...readAll(reader))
      }
      expect(seen).toEqual(texts)
    }
  })

  it.each([
    ['unmasked', clientFrame(0x81, 'x', false), 1002],
    ['with reserved bits', clientFrame(0xc1, 'x'), 1002],
    ['of an unknown data opcode', clientFrame(0x83, 'x'), 1002],
    ['of an unknown control opcode', clientFrame(0x8b, 'x'), 1002],
    ['that fragments a control frame', clientFrame(0x09, 'x'), 1002],
    ['whose control payload is long', clientFrame(0x89, 'x'.repeat(126)), 1002],
    ['over the limit', clientFrame(0x81, 'x'.repeat(101)), 1009],
    ['of an absurd length', Buffer.from([0x81, 0xff, 255, 255, 255, 255, 255, 255, 255, 255]), 1009],
  ])('are refused for a frame %s', (_, bytes, closeCode) => {
    const reader = new FrameReader(100)
    reader.push(bytes)
    expect(() => reader.next()).toThrow(expect.objectContaining({ closeCode }))
    expect(() => reader.next()).toThrow(FrameError)
  })

  it('are refused by the head alone of a frame over the limit', () => {
    const reader = new FrameReader(100)
    reader.push(clientFrame(0x81, 'x'.repeat(101)).subarray(0, 2))
    expect(() => reader.next()).toThrow(FrameError)
  })

  it.each([
    [0, [0x81, 0]],
    [125, [0x81, 125]],
    [126, [0x81, 126, 0, 126]],
    [65_535, [0x81, 126, 255, 255]],
    [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
  ])('have the length %i in the shortest form', (length, head) => {
    const frame = encodeFrame(1, Buffer.alloc(length, 'x'))
    expect([...frame.subarray(0, head.length)]).toEqual(head)
    expect(frame.length).toBe(head.length + length)
  })

  it('contain as much of a close reason as a control frame can hold', () => {
    expect(closePayload(1000, 'x'.repeat(500)).length).toBe(125)
  })

  it.each([
    [Buffer.alloc(0), 1000],
    [Buffer.from([3]), 1002],
    [closePayload(1000, ''), 1000],
    [closePayload(1005, ''), 1002],
    [closePayload(1006, ''), 1002],
    [closePayload(999, ''), 1002],
    [closePayload(2999, ''), 1002],
    [closePayload(3000, 'bye'), 3000],
    [closePayload(5000, ''), 1002],
  ])('answer the close payload %j with its code, or with 1002 if that is invalid', (payload, code) => {
    expect(closeReply(payload)).toBe(code)
  })
})
