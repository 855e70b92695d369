import { wavHeader } from '../providers/voice/wav.ts'
import { frameSamples, silentFrame, toneFrames, toneRate, wavesOfTones } from './tone-frames.ts'

/**
 * Simulated speech: one tone per word, as long as the word, followed by a short silence. Equal texts sound the same.
 */
export interface SimulatedSpeech {
  readonly contentType: string
  readonly audio: Buffer
}

/** Frames of 24 ms per letter at normal speed: about 12 letters per second. */
const framesOfLetter = 3.5
const framesOfPause = 4

/** Synthesises simulated speech. @returns null for a format that would need an encoder. */
export const speechOf = (text: string, format: string, speed: number): SimulatedSpeech | null => {
  const row = frameRow(text, speed)
  switch (format) {
    case 'mp3':
      return { contentType: 'audio/mpeg', audio: Buffer.concat(row.map((tone) => mp3Frame(tone))) }
    case 'wav': {
      const samples = Buffer.concat(row.map((tone) => pcmFrame(tone)))
      return { contentType: 'audio/wav', audio: Buffer.concat([wavHeader(samples.length, toneRate), samples]) }
    }
    case 'pcm':
      return { contentType: 'audio/pcm', audio: Buffer.concat(row.map((tone) => pcmFrame(tone))) }
    default:
      return null
  }
}

/** Returns the tone of each frame; null is silence, also for texts of only white space. */
const frameRow = (text: string, speed: number): readonly (number | null)[] => {
  const words = text.split(/\s+/).filter((word) => word !== '')
  if (words.length === 0) return Array<null>(framesOfPause).fill(null)
  return words.flatMap((word) => {
    const tone = [...word].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % toneFrames.length
    const frames = (count: number) => Math.max(1, Math.round(count / speed))
    return [
      ...Array<number>(frames([...word].length * framesOfLetter)).fill(tone),
      ...Array<null>(frames(framesOfPause)).fill(null),
    ]
  })
}

const mp3Frame = (tone: number | null): Buffer => (tone === null ? silentFrame : (toneFrames[tone] ?? silentFrame))

const loudness = 0.3 * 32767

const pcmTones: readonly Buffer[] = wavesOfTones.map((waves) => {
  const samples = Buffer.alloc(frameSamples * 2)
  for (let i = 0; i < frameSamples; i++) {
    samples.writeInt16LE(Math.round(loudness * Math.sin((2 * Math.PI * waves * i) / frameSamples)), i * 2)
  }
  return samples
})

const pcmSilence = Buffer.alloc(frameSamples * 2)

const pcmFrame = (tone: number | null): Buffer => (tone === null ? pcmSilence : (pcmTones[tone] ?? pcmSilence))
