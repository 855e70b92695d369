import { maxAudioBytes, type TranscriptForm, transcriptForms } from '../audio.ts'

/** A transcription model, with the properties that its provider documents (specs/decisions/0085-voice.md). */
export interface TranscriptionModel {
  /** Id at the provider. */
  readonly id: string
  /** Id of `specs/data/providers.ts`. */
  readonly provider: string
  /** Formats of transcripts. Formats with timestamps are left out for models that provide none. */
  readonly forms: readonly TranscriptForm[]
  /** Whether the model separates speakers. */
  readonly diarizes: boolean
  /** Languages in ISO 639-1; null when the provider lists about a hundred. */
  readonly languages: readonly string[] | null
  /** Whether the model translates speech of any language to English text. */
  readonly translates: boolean
  /** At most `maxAudioBytes`. */
  readonly maxBytes: number
}

const oneVoice = transcriptForms.filter((form) => form !== 'diarized_json')

const common = { forms: oneVoice, languages: null, maxBytes: maxAudioBytes, translates: false } as const

const diarizing = { ...common, forms: transcriptForms, diarizes: true } as const

const plain: readonly TranscriptForm[] = ['json', 'text']

const openAi = { ...common, provider: 'openai', diarizes: false } as const

/** Audio is sent as base64 in a request of at most 20 MB. */
const gemini = { ...diarizing, provider: 'google', maxBytes: 14 * 1024 * 1024 } as const

/** All transcription models that are supported by name. The first is the default. */
export const transcriptionModels: readonly TranscriptionModel[] = [
  { ...openAi, id: 'whisper-1', translates: true },
  { ...openAi, id: 'gpt-4o-transcribe', forms: plain },
  { ...openAi, id: 'gpt-4o-mini-transcribe', forms: plain },
  { ...openAi, id: 'gpt-transcribe', forms: plain },
  { ...diarizing, id: 'gpt-4o-transcribe-diarize', provider: 'openai' },
  { ...diarizing, id: 'scribe_v2', provider: 'elevenlabs' },
  { ...diarizing, id: 'scribe_v1', provider: 'elevenlabs' },
  { ...diarizing, id: 'nova-3', provider: 'deepgram' },
  { ...diarizing, id: 'nova-2', provider: 'deepgram' },
  { ...gemini, id: 'gemini-3.8-flash' },
  { ...gemini, id: 'gemini-3.5-flash' },
  { ...gemini, id: 'gemini-2.5-flash' },
  { ...common, id: 'whisper-large-v3', provider: 'groq', diarizes: false, translates: true },
  { ...common, id: 'whisper-large-v3-turbo', provider: 'groq', diarizes: false },
  { ...common, id: 'ink-whisper', provider: 'cartesia', diarizes: false },
  { ...common, id: 'mansa_v1', provider: 'spitch', diarizes: false, languages: ['yo', 'ha', 'ig', 'am', 'en'] },
  { ...diarizing, id: 'simulated-transcribe', provider: 'simulated', translates: true },
]
