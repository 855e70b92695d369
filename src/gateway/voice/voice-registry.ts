import { audioContainers, audioFormats, maxAudioBytes, transcriptForms } from '#specs/audio.ts'
import { type SpeechModel, speechModels } from '#specs/data/speech-models.ts'
import { transcriptionModels } from '#specs/data/transcription-models.ts'

const speechRow = (model: SpeechModel) => ({
  id: model.id,
  provider: model.provider,
  voices: model.voices.map(({ id }) => id),
  default_voice: model.defaultVoice,
  formats: model.formats,
  max_input_chars: model.maxInputChars,
  languages: model.languages,
})

/** `GET /v1/audio/voices` */
export const voiceList = { models: speechModels.map(speechRow) }

/** `GET /v1/audio/speech` */
export const speechList = {
  models: speechModels.map((model) => ({
    ...speechRow(model),
    supports_streaming: model.streams,
    speed: model.speed,
    temperature: model.temperature,
    custom_voices: model.ownVoices !== null,
  })),
  formats: audioFormats,
  supports_streaming: true,
}

/** `GET /v1/audio/transcriptions` */
export const transcriptionList = {
  models: transcriptionModels.map(({ id, provider, forms, diarizes, translates, languages, maxBytes }) => ({
    id,
    provider,
    response_formats: forms,
    supports_diarization: diarizes,
    supports_translation: translates,
    languages,
    max_file_bytes: maxBytes,
  })),
  containers: audioContainers,
  response_formats: transcriptForms,
  max_file_bytes: maxAudioBytes,
}
