import { describe, expect, it } from 'vitest'
import { speechOf } from '#gateway/simulated/speech.ts'
import { audioLength, maxSeconds } from '#gateway/voice/audio-length.ts'

const spoken = (format: string): Buffer => speechOf('Hello wonderful world', format, 1)?.audio ?? Buffer.alloc(0)

describe('the duration of audio', () => {
  it.each([
    ['wav', 'audio/wav'],
    ['mp3', 'audio/mpeg'],
  ])('in %s is read from its headers', async (format, type) => {
    expect(await audioLength(spoken(format), type)).toBeCloseTo(spoken('pcm').length / 48_000, 3)
  })

  it('is unknown for other content', async () => {
    expect(await audioLength(Buffer.from('no audio'), 'audio/mpeg')).toBeNull()
    expect(await audioLength(Buffer.alloc(0), 'audio/wav')).toBeNull()
  })
})

describe('the maximum duration of audio', () => {
  it('depends on the byte rate of a WAV, and on 8 kbit/s otherwise', () => {
    expect(maxSeconds({ bytes: spoken('wav') })).toBe(Math.ceil(spoken('wav').length / 48_000))
    expect(maxSeconds({ bytes: Buffer.alloc(60_000) })).toBe(60)
    expect(maxSeconds({ bytes: Buffer.alloc(3) })).toBe(1)
  })

  it('is at least 10 seconds for a forged WAV header', () => {
    const forged = Buffer.concat([spoken('wav').subarray(0, 44), Buffer.alloc(3_840_000 - 44)])
    forged.writeUInt32LE(0xffff_ffff, 28)
    expect(maxSeconds({ bytes: forged })).toBe(10)
    forged.writeUInt32LE(0, 28)
    expect(maxSeconds({ bytes: forged })).toBe(3840)
  })
})
