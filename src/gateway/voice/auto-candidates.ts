/** A model that the auto-router may choose. */
export interface Candidate {
  /** `provider/model` */
  readonly name: string
  /** ms until the first byte as long as nothing was measured: so the order of this list is the first one. */
  readonly expectedMs: number
}

/** `auto`, and the alias with the service's name. */
export const autoNames: readonly string[] = ['auto', 'service-auto']

/**
 * Models to speak with, in their first order: the first provider's two, then one of each of four others that charge by
 * a unit. Cartesia is none of them: it sells credits by plan, so that there is no unit price to check.
 */
export const speechCandidates: readonly Candidate[] = [
  { name: 'openai/tts-1', expectedMs: 600 },
  { name: 'openai/tts-1-hd', expectedMs: 900 },
  { name: 'elevenlabs/eleven_flash_v2_5', expectedMs: 1000 },
  { name: 'google/gemini-3.8-flash-lite-tts', expectedMs: 1100 },
  { name: 'deepgram/aura-2', expectedMs: 1200 },
  { name: 'groq/canopylabs/orpheus-v1-english', expectedMs: 1300 },
]

/** Models to transcribe with: the same providers in the same order. */
export const transcriptionCandidates: readonly Candidate[] = [
  { name: 'openai/whisper-1', expectedMs: 2000 },
  { name: 'openai/gpt-4o-mini-transcribe', expectedMs: 2200 },
  { name: 'elevenlabs/scribe_v2', expectedMs: 2400 },
  { name: 'google/gemini-3.8-flash', expectedMs: 2600 },
  { name: 'deepgram/nova-3', expectedMs: 2800 },
  { name: 'groq/whisper-large-v3-turbo', expectedMs: 3000 },
]
