/** A model that the auto-router may choose. */
export interface Candidate {
  /** `provider/model` */
  readonly name: string
  /** Assumed time to first byte in ms while nothing has been measured; it determines the initial order. */
  readonly expectedMs: number
}

/** Model names that select the auto-router: `auto`, and an alias with the service's name. */
export const autoNames: readonly string[] = ['auto', 'service-auto']

/**
 * Speech models in their initial order: two of the first provider, then one each of four others that charge per unit.
 * Cartesia is excluded: it sells credits by plan, so it has no unit price to check.
 */
export const speechCandidates: readonly Candidate[] = [
  { name: 'openai/tts-1', expectedMs: 600 },
  { name: 'openai/tts-1-hd', expectedMs: 900 },
  { name: 'elevenlabs/eleven_flash_v2_5', expectedMs: 1000 },
  { name: 'google/gemini-3.8-flash-lite-tts', expectedMs: 1100 },
  { name: 'deepgram/aura-2', expectedMs: 1200 },
  { name: 'groq/canopylabs/orpheus-v1-english', expectedMs: 1300 },
]

/** Transcription models: the same providers in the same order, one each except for the first. */
export const transcriptionCandidates: readonly Candidate[] = [
  { name: 'openai/whisper-1', expectedMs: 2000 },
  { name: 'openai/gpt-4o-mini-transcribe', expectedMs: 2200 },
  { name: 'elevenlabs/scribe_v2', expectedMs: 2400 },
  { name: 'google/gemini-3.8-flash', expectedMs: 2600 },
  { name: 'deepgram/nova-3', expectedMs: 2800 },
  { name: 'groq/whisper-large-v3-turbo', expectedMs: 3000 },
]
