import { bytesOf, msOf } from './pcm.ts'

/** Parameters of the detection. */
export interface DetectorOptions {
  /** Loudness of speech, from 0 to 1. */
  readonly threshold: number
  /** Silence after which speech has ended. */
  readonly silenceMs: number
}

/** Speech begins or ends; times are in ms of audio since the session began. */
export interface SpeechChange {
  readonly kind: 'started' | 'stopped'
  readonly atMs: number
}

const frameBytes = bytesOf(20)
/** Consecutive loud frames that make speech: a click is shorter. */
const loudFrames = 3
/** Amplitude, as a share of the largest one, that a threshold of 1 stands for. */
const fullLoudness = 0.04
/** Samples of a frame that are read: every second one is enough to measure its energy. */
const sampleStep = 4

/** Detects by its energy when speech begins and ends. Pure: audio in, changes out. */
export class TurnDetector {
  readonly #options: DetectorOptions
  #rest: Buffer = Buffer.alloc(0)
  #heardBytes: number
  #loud = 0
  #quietMs = 0
  #isSpeaking = false

  /** @param heardBytes length of the audio before. */
  constructor(options: DetectorOptions, heardBytes = 0) {
    this.#options = options
    this.#heardBytes = heardBytes
  }

  get isSpeaking(): boolean {
    return this.#isSpeaking
  }

  /** Adds audio, of any length. */
  push(audio: Buffer): readonly SpeechChange[] {
    const bytes = this.#rest.length === 0 ? audio : Buffer.concat([this.#rest, audio])
    const changes: SpeechChange[] = []
    let at = 0
    for (; at + frameBytes <= bytes.length; at += frameBytes) {
      this.#heardBytes += frameBytes
      const change = this.#frame(isLoud(bytes, at, this.#options.threshold))
      if (change !== null) changes.push(change)
    }
    this.#rest = bytes.subarray(at)
    return changes
  }

  #frame(loud: boolean): SpeechChange | null {
    const nowMs = msOf(this.#heardBytes)
    if (loud) {
      this.#quietMs = 0
      if (this.#isSpeaking || ++this.#loud < loudFrames) return null
      this.#isSpeaking = true
      return { kind: 'started', atMs: nowMs - msOf(loudFrames * frameBytes) }
    }
    this.#loud = 0
    if (!this.#isSpeaking) return null
    this.#quietMs += msOf(frameBytes)
    if (this.#quietMs < this.#options.silenceMs) return null
    this.#isSpeaking = false
    return { kind: 'stopped', atMs: nowMs }
  }
}

const isLoud = (bytes: Buffer, from: number, threshold: number): boolean => {
  const end = from + frameBytes
  let sum = 0
  for (let at = from; at < end; at += sampleStep) {
    const sample = bytes.readInt16LE(at) / 32_768
    sum += sample * sample
  }
  return Math.sqrt(sum / (frameBytes / sampleStep)) > Math.max(threshold, 0.01) * fullLoudness
}
