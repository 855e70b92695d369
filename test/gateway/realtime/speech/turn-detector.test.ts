import { describe, expect, it } from 'vitest'
import { bytesOf } from '#gateway/realtime/speech/pcm.ts'
import { TurnDetector } from '#gateway/realtime/speech/turn-detector.ts'

const noise = (ms: number, loudness: number): Buffer => {
  const samples = Buffer.alloc(bytesOf(ms))
  for (let at = 0; at < samples.length; at += 2)
    samples.writeInt16LE(Math.round(Math.sin(at / 20) * loudness * 32_767), at)
  return samples
}

const detected = (...audio: readonly Buffer[]) => {
  const detector = new TurnDetector({ threshold: 0.5, silenceMs: 500 })
  return audio.flatMap((part) => detector.push(part))
}

describe('the detection of turns', () => {
  it('finds where speech begins and ends, whatever the parts in which it arrives', () => {
    const audio = Buffer.concat([noise(400, 0), noise(1_000, 0.2), noise(700, 0.001)])
    const changes = [
      { kind: 'started', atMs: 400 },
      { kind: 'stopped', atMs: 1_900 },
    ]
    expect(detected(audio)).toEqual(changes)
    const parts = Array.from({ length: Math.ceil(audio.length / 998) }, (_, at) =>
      audio.subarray(at * 998, (at + 1) * 998),
    )
    expect(detected(...parts)).toEqual(changes)
  })

  it('ignores a click, a quiet room, and pauses within a sentence', () => {
    expect(detected(noise(400, 0.005), noise(20, 0.5), noise(400, 0))).toEqual([])
    expect(detected(noise(400, 0.2), noise(300, 0), noise(400, 0.2), noise(300, 0))).toEqual([
      { kind: 'started', atMs: 0 },
    ])
  })
})
