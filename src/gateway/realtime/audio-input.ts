import { newId } from '#runtime/index.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { errorOf } from './conversation/active-response.ts'
import type { Conversation } from './conversation/conversation.ts'
import type { SessionConfig } from './conversation/session-config.ts'
import { endsSession, refusedEvent, serverEvent } from './server-event.ts'
import { AudioBuffer } from './speech/audio-buffer.ts'
import { bytesOf, msOf } from './speech/pcm.ts'
import { type SpeechChange, TurnDetector } from './speech/turn-detector.ts'
import type { Voices } from './speech/voices.ts'

export interface AudioInputParts {
  readonly conversation: Conversation
  readonly voices: Voices
  readonly send: (event: string) => void
  readonly signal: AbortSignal
  /** The user begins to speak, by the detection. */
  readonly started: () => void
  /** The user has stopped to speak, and the audio has become an item. */
  readonly stopped: () => void
  /** What pays for transcripts has ended. */
  readonly spent: (error: ServiceError) => void
}

/** A part of an item: the id of the item, and the index of the part. */
type PartPlace = readonly [itemId: string, contentIndex: number]

/** Shortest audio that is transcribed. */
const minMs = 100
/** Transcriptions in progress beyond which the next event of the client waits. */
const maxHearing = 4

/** The audio of the client: the buffer, the detection of turns, and the transcription of each. */
export class AudioInput {
  readonly #parts: AudioInputParts
  readonly #buffer = new AudioBuffer()
  readonly #hearing = new Set<Promise<void>>()
  #detector: TurnDetector | null = null
  #detectorFor: SessionConfig | null = null
  /** The detection that the detector was made for, as JSON. */
  #detection = ''
  /** First half of a sample whose second has not arrived. */
  #half: Buffer = Buffer.alloc(0)
  #heardBytes = 0
  /** Id of the item that the audio being spoken will become. */
  #itemId = newId('item')

  constructor(parts: AudioInputParts) {
    this.#parts = parts
  }

  /** Adds audio in base64. @throws {ServiceError} `body_too_large`, `invalid_field` */
  append(base64: string, config: SessionConfig): void {
    const part = Buffer.from(base64, 'base64')
    if (part.length === 0 && base64 !== '') throw invalidField('audio', 'audio is not base64.')
    const audio = this.#half.length === 0 ? part : Buffer.concat([this.#half, part])
    const whole = audio.subarray(0, audio.length - (audio.length % 2))
    this.#buffer.add(whole)
    this.#half = audio.subarray(whole.length)
    const detector = this.#detectorOf(config)
    const changes = detector?.push(whole) ?? []
    this.#heardBytes += whole.length
    for (const change of changes) this.#changed(change, config)
    const { prefixMs = 0 } = config.turnDetection ?? {}
    // three frames are heard before speech is recognised
    if (detector !== null && !detector.isSpeaking) this.#buffer.keepLast(prefixMs + 60)
  }

  clear(): void {
    this.#buffer.clear()
    this.#half = Buffer.alloc(0)
    this.#parts.send(serverEvent('input_audio_buffer.cleared', {}))
  }

  /** Makes an item of the audio in the buffer. @throws {ServiceError} `invalid_field` for less than 100 ms */
  commit(config: SessionConfig): void {
    if (this.#buffer.bytes < bytesOf(minMs))
      throw refusedEvent('invalid_field', 'input_audio_buffer_commit_empty', {
        message: `The buffer has less than ${minMs} ms of audio.`,
      })
    this.#commit(config)
  }

  /** Transcribes a part of an item that the client adds as a whole. */
  addPart(place: PartPlace, base64: string, config: SessionConfig): void {
    this.#hear(place, Buffer.from(base64, 'base64'), config)
  }

  /** Resolves when more audio may be transcribed; undefined when it may be at once. */
  free(): Promise<void> | undefined {
    return this.#hearing.size < maxHearing ? undefined : Promise.race(this.#hearing)
  }

  /** Resolves when all audio so far has been transcribed, or could not be. */
  async heard(): Promise<void> {
    while (this.#hearing.size > 0) await Promise.all(this.#hearing)
  }

  /** The detector of a configuration; speech that has begun goes on under one that detects in the same way. */
  #detectorOf(config: SessionConfig): TurnDetector | null {
    if (this.#detectorFor === config) return this.#detector
    this.#detectorFor = config
    const options = config.turnDetection
    const detection = JSON.stringify(options)
    if (detection !== this.#detection)
      this.#detector = options === null ? null : new TurnDetector(options, this.#heardBytes)
    this.#detection = detection
    return this.#detector
  }

  #changed({ kind, atMs }: SpeechChange, config: SessionConfig): void {
    const { send, started, stopped } = this.#parts
    if (kind === 'started') {
      const { prefixMs = 0 } = config.turnDetection ?? {}
      const audio_start_ms = Math.max(0, atMs - prefixMs)
      send(serverEvent('input_audio_buffer.speech_started', { audio_start_ms, item_id: this.#itemId }))
      started()
      return
    }
    send(serverEvent('input_audio_buffer.speech_stopped', { audio_end_ms: atMs, item_id: this.#itemId }))
    this.#commit(config)
    stopped()
  }

  #commit(config: SessionConfig): void {
    const { conversation, send } = this.#parts
    const samples = this.#buffer.take()
    const content = [{ type: 'input_audio', transcript: null }]
    const fields = { id: this.#itemId, type: 'message', role: 'user', status: 'completed', content }
    this.#itemId = newId('item')
    const { item, previous } = conversation.add(fields)
    send(serverEvent('input_audio_buffer.committed', { item_id: item.id, previous_item_id: previous }))
    send(serverEvent('conversation.item.added', { previous_item_id: previous, item }))
    send(serverEvent('conversation.item.done', { previous_item_id: previous, item }))
    this.#hear([item.id, 0], samples, config)
  }

  #hear(place: PartPlace, samples: Buffer, config: SessionConfig): void {
    const hearing = this.#transcribed(place, samples, config).finally(() => this.#hearing.delete(hearing))
    this.#hearing.add(hearing)
  }

  async #transcribed([item_id, content_index]: PartPlace, samples: Buffer, config: SessionConfig): Promise<void> {
    const { voices, conversation, send, signal } = this.#parts
    const place = { item_id, content_index }
    const name = 'conversation.item.input_audio_transcription'
    try {
      const transcript = await voices.hear(samples, config.transcription, signal)
      conversation.heard(item_id, content_index, transcript)
      const usage = { type: 'duration', seconds: msOf(samples.length) / 1000 }
      send(serverEvent(`${name}.completed`, { ...place, transcript, usage }))
    } catch (error) {
      send(serverEvent(`${name}.failed`, { ...place, error: errorOf(error) }))
      if (endsSession(error)) this.#parts.spent(error)
    }
  }
}
