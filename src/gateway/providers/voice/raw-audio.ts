import { streamBroken } from '#gateway/call/failure.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import type { AudioReader } from './voice-format.ts'

/** Reader for responses whose body is the audio itself. */
export class RawAudio implements AudioReader {
  readonly tokens: TokenUsage | null = null
  #any = false

  push(bytes: Buffer): readonly Buffer[] {
    if (bytes.length === 0) return []
    this.#any = true
    return [bytes]
  }

  end(): readonly Buffer[] {
    if (!this.#any) throw streamBroken()
    return []
  }
}
