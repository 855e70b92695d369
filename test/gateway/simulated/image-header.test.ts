import { describe, expect, it } from 'vitest'
import { imageHeader } from '#gateway/simulated/image-header.ts'
import { gif, heic, jpeg, png, webpExtended, webpLossless, webpLossy } from './image-bytes.ts'

const formats = [
  ['PNG', png],
  ['GIF', gif],
  ['JPEG', jpeg],
  ['WEBP', webpLossy],
  ['WEBP', webpLossless],
  ['WEBP', webpExtended],
  ['HEIC', heic],
] as const

describe('the header of an image', () => {
  it.each(formats)('contains format and size: %s', (format, bytes) => {
    expect(imageHeader(bytes(640, 479))).toEqual({ format, width: 640, height: 479 })
    expect(imageHeader(bytes(16_000, 9))).toEqual({ format, width: 16_000, height: 9 })
  })

  it.each(formats)('is null or has smaller dimensions when it is truncated: %s', (_, bytes) => {
    const whole = bytes(640, 479)
    for (let end = 0; end < 24; end += 1) {
      const reported = imageHeader(whole.subarray(0, Math.min(end, whole.length - 1)))
      expect(reported === null || (reported.width <= 640 && reported.height <= 479)).toBe(true)
    }
    expect(imageHeader(whole.subarray(0, 9))).toBeNull()
  })

  it('is null for other content', () => {
    expect(imageHeader(Buffer.from('%PDF-1.7 and some more text that is long enough'))).toBeNull()
    expect(imageHeader(Buffer.alloc(0))).toBeNull()
    expect(imageHeader(Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 0, 0, 0, 0, 0, 0, 0]))).toBeNull()
  })
})
