import type { Call } from '#actors/call/call.ts'
import type { BytesResult, UseCases } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import { audioFile } from '#gateway/voice/audio-file.ts'
import type { Voice } from '#gateway/voice/open-voice.ts'
import { checkStreamed, type TranscriptionRequest } from '#gateway/voice/transcription-task.ts'
import { withLimit } from '#gateway/voice/voice-limit.ts'
import { speechList, transcriptionList, voiceList } from '#gateway/voice/voice-registry.ts'
import type { BodyOf } from '#specs/index.ts'

/** Operations of the voice API. */
export type VoiceUseCases = Pick<
  UseCases,
  | 'speech.speak'
  | 'speech.models'
  | 'speech.voices'
  | 'transcriptions.transcribe'
  | 'transcriptions.translate'
  | 'transcriptions.models'
>

/** A call with an audio file; the fields that transcription and translation share. */
type HeardCall = Call<unknown, unknown, Pick<BodyOf<'transcriptions.translate'>, 'model' | 'prompt' | 'temperature'>>
type HeardKind = Omit<TranscriptionRequest, 'file' | 'prompt' | 'temperature'>

/** Use-cases of the voice API and of OpenAI's audio paths, which are the same operations at two addresses. */
export const voiceUseCases = ({ speech, transcription, limit }: Omit<Voice, 'close'>): VoiceUseCases => {
  const heard = async (call: HeardCall, operation: string, kind: HeardKind) => {
    const { model = null, prompt = null, temperature = null } = call.body
    const request = { ...kind, file: audioFile(call.files), prompt, temperature }
    checkStreamed(request)
    const limited = await limit.take(call.scope.project)
    const { signal } = call
    const task = { caller: callerOf(call), operation, model, request, signal }
    const { headers, ...answer } = await transcription.transcribe(task)
    const all = withLimit(limited, headers)
    return 'json' in answer ? { json: answer.json, headers: all } : { bytes: { ...answer.bytes, headers: all } }
  }
  return {
    async 'speech.speak'(call) {
      const limited = await limit.take(call.scope.project)
      const { input, model = null, voice = null, response_format, responseFormat } = call.body
      const { speed = null, temperature = null, language = null, instructions = null } = call.body
      const events = call.body.stream_format === 'sse'
      const answer = await speech.speak({
        caller: callerOf(call),
        operation: 'speech.speak',
        model,
        request: {
          text: input,
          voice,
          format: response_format ?? responseFormat ?? null,
          speed,
          temperature,
          language,
          instructions,
          // an answer that is stored for an Idempotency-Key cannot be streamed
          streamed: call.body.stream === true || (events && call.idempotency === null),
          events,
        },
        signal: call.signal,
      })
      return {
        ...(call.idempotency === null ? answer : keepable(answer)),
        headers: withLimit(limited, answer.headers ?? []),
      }
    },
    async 'transcriptions.transcribe'(call) {
      const { language = null, diarize = false, stream: streamed = false, responseFormat } = call.body
      const form = call.body.response_format ?? responseFormat ?? 'json'
      return heard(call, 'transcriptions.transcribe', { form, language, diarize, streamed, translates: false })
    },
    async 'transcriptions.translate'(call) {
      const form = call.body.response_format ?? 'json'
      const kind = { form, language: null, diarize: false, streamed: false, translates: true }
      return heard(call, 'transcriptions.translate', kind)
    },
    'speech.models': async () => speechList,
    'speech.voices': async () => voiceList,
    'transcriptions.models': async () => transcriptionList,
  }
}

/** Converts an answer to a form that can be stored for an Idempotency-Key. */
const keepable = (answer: BytesResult): BytesResult =>
  answer.bytes instanceof Uint8Array
    ? { ...answer, bytes: { base64: Buffer.from(answer.bytes).toString('base64') } }
    : answer
