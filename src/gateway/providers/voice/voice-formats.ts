import type { WireFormat } from '#specs/data/providers.ts'
import { cartesiaVoice } from '../cartesia/cartesia-voice.ts'
import { deepgramVoice } from '../deepgram/deepgram-voice.ts'
import { elevenLabsVoice } from '../elevenlabs/elevenlabs-voice.ts'
import { googleVoice } from '../google/google-voice.ts'
import { openAiVoice } from '../openai/openai-voice.ts'
import { spitchVoice } from '../spitch/spitch-voice.ts'
import type { VoiceFormat } from './voice-format.ts'

/** Voice APIs by wire format. Groq and the simulated provider use OpenAI's. */
export const voiceFormats: Readonly<Partial<Record<WireFormat, VoiceFormat>>> = {
  openai: openAiVoice,
  elevenlabs: elevenLabsVoice,
  deepgram: deepgramVoice,
  google: googleVoice,
  cartesia: cartesiaVoice,
  spitch: spitchVoice,
}
