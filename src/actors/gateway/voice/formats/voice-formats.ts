import type { WireFormat } from '../../../../../specs/providers.ts'
import { cartesiaVoice } from './cartesia-voice.ts'
import { deepgramVoice } from './deepgram-voice.ts'
import { elevenLabsVoice } from './elevenlabs-voice.ts'
import { googleVoice } from './google-voice.ts'
import { openAiVoice } from './openai-voice.ts'
import { spitchVoice } from './spitch-voice.ts'
import type { VoiceFormat } from './voice-format.ts'

/** Wire formats that have voice. Groq and the simulated provider speak OpenAI's. */
export const voiceFormats: Readonly<Partial<Record<WireFormat, VoiceFormat>>> = {
  openai: openAiVoice,
  elevenlabs: elevenLabsVoice,
  deepgram: deepgramVoice,
  google: googleVoice,
  cartesia: cartesiaVoice,
  spitch: spitchVoice,
}
