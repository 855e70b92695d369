import type { ByteStream } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResponseWriter } from '../conversation/response-writer.ts'
import type { Outlet } from '../outlet.ts'
import { msOf } from './pcm.ts'
import { Sentences } from './sentences.ts'
import type { SpokenSentence, Voices } from './voices.ts'

export interface SpeakerParts {
  readonly voices: Voices
  readonly writer: ResponseWriter
  readonly outlet: Outlet
  readonly options: { readonly model: string | null } & Omit<SpokenSentence, 'text'>
  readonly signal: AbortSignal
}

/** Bytes of audio in one event. */
const eventBytes = 9_600

/**
 * Says the text of an answer while it is generated: sentence by sentence, each as soon as the audio of the one before
 * has arrived, which is faster than it is played.
 */
export class Speaker {
  readonly #parts: SpeakerParts
  readonly #sentences = new Sentences()
  #last: Promise<void> = Promise.resolve()
  #failure: unknown = null

  constructor(parts: SpeakerParts) {
    this.#parts = parts
  }

  push(delta: string): void {
    for (const sentence of this.#sentences.push(delta)) this.#enqueue(sentence)
  }

  /** Resolves when everything has been said. @throws {ServiceError} */
  async finish(): Promise<void> {
    const rest = this.#sentences.rest()
    if (rest.trim() !== '') this.#enqueue(rest)
    await this.#last
    if (this.#failure !== null) throw this.#failure
  }

  #enqueue(text: string): void {
    this.#last = this.#last.then(async () => {
      if (this.#failure !== null || this.#parts.signal.aborted) return
      try {
        await this.#say(text)
      } catch (error) {
        this.#failure = error
      }
    })
  }

  async #say(text: string): Promise<void> {
    const { voices, writer, options, signal } = this.#parts
    const { model, voice, speed } = options
    const audio = await voices.say({ text: text.trim(), voice, speed }, model, signal)
    if (signal.aborted) return
    writer.text(text)
    const bytes = audio instanceof Uint8Array ? await this.#pass(audio) : await this.#follow(audio)
    writer.spoken({ text, ms: msOf(bytes) })
  }

  /** Passes audio on in events of a fraction of a second. @returns its length. */
  async #pass(audio: Uint8Array): Promise<number> {
    const { writer, outlet, signal } = this.#parts
    for (let at = 0; at < audio.length && !signal.aborted; at += eventBytes) {
      writer.audio(Buffer.from(audio.buffer, audio.byteOffset + at, Math.min(eventBytes, audio.length - at)))
      await outlet.free()
    }
    return audio.length
  }

  /** Passes a stream of audio on as it arrives. @returns its length. */
  #follow(stream: ByteStream): Promise<number> {
    const { writer, outlet, signal } = this.#parts
    return new Promise((resolve, reject) => {
      let length = 0
      let odd: Buffer = Buffer.alloc(0)
      const add = (part: string | Uint8Array): void => {
        const bytes = Buffer.concat([odd, typeof part === 'string' ? Buffer.from(part, 'latin1') : part])
        const whole = bytes.length - (bytes.length % 2)
        odd = bytes.subarray(whole)
        length += whole
        for (let at = 0; at < whole; at += eventBytes)
          writer.audio(bytes.subarray(at, Math.min(at + eventBytes, whole)))
      }
      const control = stream.start({
        push: (part) => {
          add(part)
          if (!outlet.isBlocked) return true
          void outlet.free().then(() => control.resume())
          return false
        },
        end: (last) => {
          if (last !== undefined) add(last)
          resolve(length)
        },
        abort: () => reject(new ServiceError('provider_stream_broken')),
      })
      const stop = (): void => {
        control.stop()
        resolve(length)
      }
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
    })
  }
}
