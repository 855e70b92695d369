import { describe, expect, it } from 'vitest'
import { GeminiAudio } from '#gateway/providers/google/gemini-audio.ts'
import type { SpeechTask } from '#gateway/providers/voice/voice-format.ts'

const task: SpeechTask = {
  ...{ text: 'Hi', voice: 'Kore', format: 'pcm', speed: null, temperature: null, language: null },
  ...{ instructions: null, streamed: true },
}
const lineOf = (samples: Buffer): string => {
  const inlineData = { mimeType: 'audio/L16;rate=24000', data: samples.toString('base64') }
  return `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }] })}\n\n`
}

describe('the audio of an event stream of Gemini', () => {
  it('is read from lines that arrive in any parts', () => {
    const samples = Buffer.from('0102030405060708', 'hex')
    const reader = new GeminiAudio(task)
    const heard = [...Buffer.from(lineOf(samples))].flatMap((byte) => reader.push(Buffer.from([byte])))
    expect(Buffer.concat([...heard, ...reader.end()])).toEqual(samples)
  })

  it('costs no more than its length, though a line arrives in thousands of parts', () => {
    const samples = Buffer.alloc(6 * 1024 * 1024, 7)
    const bytes = Buffer.from(lineOf(samples))
    const reader = new GeminiAudio(task)
    const heard: Buffer[] = []
    const before = process.cpuUsage()
    for (let at = 0; at < bytes.length; at += 1024) heard.push(...reader.push(bytes.subarray(at, at + 1024)))
    const { user, system } = process.cpuUsage(before)
    expect(Buffer.concat(heard).equals(samples)).toBe(true)
    expect((user + system) / 1_000_000).toBeLessThan(3)
  })
})
