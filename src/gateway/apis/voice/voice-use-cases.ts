import type { Principal } from '#actors/call/call.ts'
import type { BytesResult, UseCases } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import { audioFile } from '#gateway/voice/audio-file.ts'
import type { Voice } from '#gateway/voice/open-voice.ts'
import { checkStreamed } from '#gateway/voice/transcription-task.ts'
import { withLimit } from '#gateway/voice/voice-limit.ts'
import { speechList, transcriptionList, voiceList } from '#gateway/voice/voice-registry.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** The operations of voice. */
export type VoiceUseCases = Pick<
  UseCases,
  'speech.speak' | 'speech.models' | 'speech.voices' | 'transcriptions.transcribe' | 'transcriptions.models'
>

/** The voice API and the classic audio paths: the same operations at two addresses. */
export const voiceUseCases = ({ speech, transcription, limit }: Omit<Voice, 'close'>): VoiceUseCases => {
  return {
    async 'speech.speak'(call) {
      const limited = await admitted(limit, call.principal, call.scope.project)
      const { input, model = null, voice = null, response_format, responseFormat } = call.body
      const { speed = null, temperature = null, language = null, instructions = null, stream = false } = call.body
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
          streamed: stream,
        },
        signal: call.signal,
      })
      return {
        ...(call.idempotency === null ? answer : keepable(answer)),
        headers: withLimit(limited, answer.headers ?? []),
      }
    },
    async 'transcriptions.transcribe'(call) {
      const file = audioFile(call.files)
      const { model = null, language = null, prompt = null, temperature = null, diarize = false } = call.body
      const form = call.body.response_format ?? call.body.responseFormat ?? 'json'
      const request = { file, form, language, prompt, temperature, diarize, streamed: call.body.stream ?? false }
      checkStreamed(request)
      const limited = await admitted(limit, call.principal, call.scope.project)
      const { headers, ...answer } = await transcription.transcribe({
        caller: callerOf(call),
        operation: 'transcriptions.transcribe',
        model,
        request,
        signal: call.signal,
      })
      const all = withLimit(limited, headers)
      return 'json' in answer ? { json: answer.json, headers: all } : { bytes: { ...answer.bytes, headers: all } }
    },
    'speech.models': async () => speechList,
    'speech.voices': async () => voiceList,
    'transcriptions.models': async () => transcriptionList,
  }
}

/** A key that browsers show may chat; it may not speak at the project's expense. */
const admitted = (limit: Voice['limit'], principal: Principal, project: string) => {
  if (principal.kind === 'agent_key' && principal.keyType === 'public') throw new ServiceError('forbidden')
  return limit.take(project)
}

/** As it can be stored for an Idempotency-Key. */
const keepable = (answer: BytesResult): BytesResult =>
  answer.bytes instanceof Uint8Array
    ? { ...answer, bytes: { base64: Buffer.from(answer.bytes).toString('base64') } }
    : answer
