import { StringDecoder } from 'node:string_decoder'
import { refused, streamBroken, streamedFailure } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import { WavFramer } from '../voice/pcm-audio.ts'
import type { AudioReader, SpeechTask } from '../voice/voice-format.ts'
import { pcmRate } from '../voice/wav.ts'
import { googleUsage } from './google-usage.ts'

/** Maximum characters of one event or of a whole response: about 8 minutes of speech. */
const maxChars = 64 * 1024 * 1024

/** Extracts audio from Gemini's JSON: the single document of a whole response, or those of an event stream. */
export class GeminiAudio implements AudioReader {
  tokens: TokenUsage | null = null
  readonly #task: SpeechTask
  readonly #framer: WavFramer
  readonly #text = new StringDecoder('utf8')
  #pending = ''
  #finished = false
  #any = false

  constructor(task: SpeechTask) {
    this.#task = task
    this.#framer = new WavFramer(task.streamed)
  }

  push(bytes: Buffer): readonly Buffer[] {
    const text = this.#text.write(bytes)
    this.#pending += text
    if (this.#pending.length > maxChars) throw streamBroken()
    // a line of audio arrives in hundreds of parts: it is searched for its end once
    if (!this.#task.streamed || !text.includes('\n')) return []
    const lines = this.#pending.split(/\r?\n/)
    this.#pending = lines.pop() ?? ''
    return lines.flatMap((line) => (line.startsWith('data:') ? this.#document(line.slice(5)) : []))
  }

  end(): readonly Buffer[] {
    const rest = this.#pending.startsWith('data:') ? this.#pending.slice(5) : this.#task.streamed ? '' : this.#pending
    const last = rest.trim() === '' ? [] : this.#document(rest)
    if (!this.#finished || !this.#any) throw streamBroken()
    return this.#task.format === 'wav' ? [...last, ...this.#framer.end()] : last
  }

  #document(text: string): readonly Buffer[] {
    const json = parseJson(text)
    if (!isObject(json)) throw streamBroken()
    if (json.error !== undefined) throw streamedFailure(json.error)
    this.tokens = geminiTokens(json.usageMetadata) ?? this.tokens
    const candidate = objectOf(arrayOf(json.candidates)[0])
    const reason = textOf(candidate.finishReason)
    if (reason !== '') this.#finish(reason)
    return arrayOf(objectOf(candidate.content).parts).flatMap((part) => this.#samples(objectOf(part).inlineData))
  }

  #finish(reason: string): void {
    this.#finished = true
    if (reason !== 'STOP') throw refused(new ModelError('provider_error', `The provider stopped speaking (${reason}).`))
  }

  #samples(inline: unknown): readonly Buffer[] {
    const { data, mimeType } = objectOf(inline)
    const samples = Buffer.from(textOf(data), 'base64')
    if (samples.length === 0) return []
    this.#any = true
    const rate = Number(/rate=(\d+)/.exec(textOf(mimeType))?.[1] ?? pcmRate)
    return this.#task.format === 'wav' ? this.#framer.push([samples], rate) : [samples]
  }
}

/** Returns the token usage that Gemini reported; null when it reported none. */
export const geminiTokens = (usage: unknown): TokenUsage | null => (isObject(usage) ? googleUsage(usage) : null)
