import type { TokenUsage } from '#gateway/prices/usage.ts'
import { RawAudio } from './raw-audio.ts'
import type { AudioReader } from './voice-format.ts'
import { pcmRate, wavHeader } from './wav.ts'

/** Converts PCM responses to WAV by writing a header before the first sample. */
export class WavAudio implements AudioReader {
  readonly tokens: TokenUsage | null = null
  readonly #raw = new RawAudio()
  readonly #framer: WavFramer

  constructor(task: { readonly streamed: boolean }) {
    this.#framer = new WavFramer(task.streamed)
  }

  push(bytes: Buffer): readonly Buffer[] {
    return this.#framer.push(this.#raw.push(bytes), pcmRate)
  }

  end(): readonly Buffer[] {
    return [...this.#raw.end(), ...this.#framer.end()]
  }
}

/**
 * Writes a WAV header before samples. A streamed header is written at once, without a length; otherwise the samples are
 * held until the end so that the header has the right length.
 */
export class WavFramer {
  readonly #streamed: boolean
  #kept: Buffer[] = []
  #rate = pcmRate
  #begun = false

  constructor(streamed: boolean) {
    this.#streamed = streamed
  }

  /** @param rate samples per second. */
  push(samples: readonly Buffer[], rate: number): readonly Buffer[] {
    if (samples.length === 0) return []
    this.#rate = rate
    if (!this.#streamed) {
      this.#kept.push(...samples)
      return []
    }
    const head = this.#begun ? [] : [wavHeader(null, rate)]
    this.#begun = true
    return [...head, ...samples]
  }

  end(): readonly Buffer[] {
    if (this.#streamed) return []
    const samples = this.#kept
    this.#kept = []
    const bytes = samples.reduce((sum, part) => sum + part.length, 0)
    return [wavHeader(bytes, this.#rate), ...samples]
  }
}
