import type { ByteStream } from '#actors/call/call.ts'
import type { Caller } from '#gateway/call/caller.ts'
import { wavHeader } from '#gateway/providers/voice/wav.ts'
import type { Voice } from '#gateway/voice/open-voice.ts'
import { textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { realtimeOperation } from '../relay/response-charges.ts'
import type { SecretBudget } from '../secrets/secret-budget.ts'
import { bytesOfSecond } from './pcm.ts'

export interface SpokenSentence {
  readonly text: string
  readonly voice: string | null
  readonly speed: number | null
}

const samplesOfSecond = bytesOfSecond / 2

/** Refusals after which another model of the server may do. */
const otherMayDo: ReadonlySet<string> = new Set([
  ...['provider_not_configured', 'provider_not_active', 'byok_required', 'model_not_found', 'bad_request'],
])

/**
 * The speech and transcription of a session, by the models of this server. Without a named model the first one is used
 * that the project can use; it is found at the first call.
 */
export class Voices {
  readonly #voice: Pick<Voice, 'speech' | 'transcription'>
  readonly #caller: Caller
  readonly #budget: SecretBudget | null
  #speaker: string | null | undefined
  #listener: string | null | undefined
  /** The model that the session named when the listener was found. */
  #heardFor = ''

  /** @param budget that of the secret which opened the session, in which every call counts; null: none. */
  constructor(voice: Pick<Voice, 'speech' | 'transcription'>, caller: Caller, budget: SecretBudget | null) {
    this.#voice = voice
    this.#caller = caller
    this.#budget = budget
  }

  readonly #onCost = (usd: string | null): void => void this.#budget?.spent(usd)

  /** Says a sentence: samples at 24 kHz. @throws {ServiceError} */
  async say(sentence: SpokenSentence, named: string | null, signal: AbortSignal): Promise<Uint8Array | ByteStream> {
    const { text, voice, speed } = sentence
    const request = {
      text,
      voice,
      speed,
      format: 'pcm',
      temperature: null,
      language: null,
      instructions: null,
    } as const
    const speak = (model: string | null) =>
      this.#voice.speech.speak({
        ...{ caller: this.#caller, operation: realtimeOperation, model, signal, onCost: this.#onCost },
        request: { ...request, streamed: true, events: false },
      })
    if (named !== null) return audioOf((await speak(named)).bytes)
    if (this.#speaker !== undefined) return audioOf((await speak(this.#speaker)).bytes)
    const { model, result } = await firstThatDoes([null, 'auto', 'simulated-tts'], speak)
    this.#speaker = model
    return audioOf(result.bytes)
  }

  /** Returns the text of audio. @throws {ServiceError} `budget_exceeded` when nothing is left to pay for it */
  async hear(samples: Buffer, options: WireObject, signal: AbortSignal): Promise<string> {
    this.#budget?.check()
    const bytes = Buffer.concat([wavHeader(samples.length, samplesOfSecond), samples])
    const request = { file: { bytes, container: 'wav' }, form: 'json', diarize: false, translates: false } as const
    const words = { language: textOf(options.language) || null, prompt: textOf(options.prompt) || null }
    const hear = (model: string | null) =>
      this.#voice.transcription.transcribe({
        ...{ caller: this.#caller, operation: realtimeOperation, model, signal, onCost: this.#onCost },
        request: { ...request, ...words, temperature: null, streamed: false },
      })
    const named = textOf(options.model)
    if (this.#listener !== undefined && named === this.#heardFor) return transcriptIn(await hear(this.#listener))
    // clients name a model of their provider by default, which a project need not have
    const models = [...(named === '' ? [] : [named]), null, 'auto', 'simulated-transcribe']
    const { model, result } = await firstThatDoes(models, hear)
    this.#listener = model
    this.#heardFor = named
    return transcriptIn(result)
  }
}

/** @throws {ServiceError} the refusal of the first model. */
const firstThatDoes = async <T>(models: readonly (string | null)[], use: (model: string | null) => Promise<T>) => {
  let refusal: unknown
  for (const model of models) {
    try {
      return { model, result: await use(model) }
    } catch (error) {
      refusal ??= error
      if (!(error instanceof ServiceError) || !otherMayDo.has(error.code)) throw error
    }
  }
  throw refusal
}

const audioOf = (bytes: unknown): Uint8Array | ByteStream => {
  if (bytes instanceof Uint8Array || isStream(bytes)) return bytes
  throw new Error('speech of another kind')
}

const isStream = (bytes: unknown): bytes is ByteStream =>
  typeof bytes === 'object' && bytes !== null && 'start' in bytes && typeof bytes.start === 'function'

const transcriptIn = (answer: object): string => {
  const json = 'json' in answer ? answer.json : null
  return typeof json === 'object' && json !== null && 'text' in json ? textOf(json.text) : ''
}
