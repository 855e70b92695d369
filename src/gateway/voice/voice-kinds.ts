import { type SpeechModel, speechModels } from '#specs/data/speech-models.ts'
import { type TranscriptionModel, transcriptionModels } from '#specs/data/transcription-models.ts'
import { speechModelOf, transcriptionModelOf } from '../prices/voice-models.ts'
import type { SpeechTask, TranscriptionTask } from '../providers/voice/voice-format.ts'
import { speechCandidates, transcriptionCandidates } from './auto-candidates.ts'
import { plainTask, type SpeechRequest, speechTask } from './speech-task.ts'
import { plainTranscription, type TranscriptionRequest, transcriptionTask } from './transcription-task.ts'
import type { VoiceKind } from './voice-planner.ts'

/** Speech. When no format is requested, the auto-router prefers models that return MP3, the default elsewhere. */
export const speechKind: VoiceKind<SpeechRequest, SpeechModel, SpeechTask> = {
  need: 'speech',
  models: speechModels,
  modelOf: speechModelOf,
  candidates: speechCandidates,
  task: ({ model, voice }, request) =>
    speechTask(model, voice === null ? request : { ...request, voice: request.voice ?? voice.id }, 'refuse'),
  chosenTask: (model, request) => speechTask(model, request, 'default'),
  plainTask,
  preferred: (request) => (request.format === null ? [{ ...request, format: 'mp3' }, request] : [request]),
}

export const transcriptionKind: VoiceKind<TranscriptionRequest, TranscriptionModel, TranscriptionTask> = {
  need: 'transcription',
  models: transcriptionModels,
  modelOf: transcriptionModelOf,
  candidates: transcriptionCandidates,
  task: ({ model }, request) => transcriptionTask(model, request),
  chosenTask: transcriptionTask,
  plainTask: plainTranscription,
  preferred: (request) => [request],
}
