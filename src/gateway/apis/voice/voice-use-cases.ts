import { ServiceError } from '../../../../specs/errors.ts'
import type { Principal } from '../../../actors/call/call.ts'
import type { BytesResult, UseCases } from '../../../actors/call/use-cases.ts'
import type { FanOut, RateLimits } from '../../../storage/cluster-ports.ts'
import { defaultCallPolicy } from '../../call/call-policy.ts'
import { callerOf } from '../../call/caller.ts'
import type { GatewayCore } from '../../call/open-core.ts'
import type { Upstreams } from '../../call/upstreams.ts'
import { audioFile } from '../../voice/audio-file.ts'
import { Latencies } from '../../voice/latencies.ts'
import { SpeechCalls } from '../../voice/speech-calls.ts'
import { SpeechPlanner } from '../../voice/speech-planner.ts'
import { TranscriptionCalls } from '../../voice/transcription-calls.ts'
import { TranscriptionPlanner } from '../../voice/transcription-planner.ts'
import { checkStreamed } from '../../voice/transcription-task.ts'
import type { VoicePolicy } from '../../voice/voice-call.ts'
import { VoiceLimit, withLimit } from '../../voice/voice-limit.ts'
import { speechList, transcriptionList, voiceList } from '../../voice/voice-registry.ts'

/** What voice stands on. */
export interface VoiceParts extends GatewayCore {
  readonly upstreams: Pick<Upstreams, 'of'>
  readonly limits: RateLimits
  /** Tells other nodes what was measured; none for one process. */
  readonly fanOut?: Pick<FanOut, 'announce' | 'subscribe'> | undefined
  /** ms since the epoch. */
  readonly now: () => number
  /** For tests. */
  readonly policy?: Partial<VoicePolicy>
}

/** The operations of voice. */
export type VoiceUseCases = Pick<
  UseCases,
  'speech.speak' | 'speech.models' | 'speech.voices' | 'transcriptions.transcribe' | 'transcriptions.models'
>

/** A provider has 55 seconds for a whole transcript (interface "Limits"). */
const transcriptionTimeoutMs = 55_000

/** The voice API and the classic audio paths: the same operations at two addresses. */
export const voiceUseCases = (parts: VoiceParts): VoiceUseCases => {
  const latencies = new Latencies(parts.now, parts.fanOut)
  const limit = new VoiceLimit(parts.limits)
  const shared = { ...parts, latencies }
  const patient: VoicePolicy = { ...defaultCallPolicy, totalTimeoutMs: null, ...parts.policy }
  const whole = { firstByteTimeoutMs: transcriptionTimeoutMs, totalTimeoutMs: transcriptionTimeoutMs }
  const speech = new SpeechCalls({ ...shared, planner: new SpeechPlanner(parts.routes, latencies), policy: patient })
  const transcription = new TranscriptionCalls({
    ...shared,
    planner: new TranscriptionPlanner(parts.routes, latencies),
    policy: { ...defaultCallPolicy, ...whole, ...parts.policy },
  })
  return {
    async 'speech.speak'(call) {
      const limited = await admitted(limit, call.principal, call.scope.project)
      const { input, model = null, voice = null, response_format, responseFormat } = call.body
      const { speed = null, temperature = null, language = null, instructions = null, stream = false } = call.body
      const answer = await speech.speak({
        caller: callerOf(call),
        operation: 'speech.speak',
        model,
        wish: {
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
      const wish = { file, form, language, prompt, temperature, diarize, streamed: call.body.stream ?? false }
      checkStreamed(wish)
      const limited = await admitted(limit, call.principal, call.scope.project)
      const { headers, ...answer } = await transcription.transcribe({
        caller: callerOf(call),
        operation: 'transcriptions.transcribe',
        model,
        wish,
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
const admitted = (limit: VoiceLimit, principal: Principal, project: string) => {
  if (principal.kind === 'agent_key' && principal.keyType === 'public') throw new ServiceError('forbidden')
  return limit.take(project)
}

/** As it can be stored for an Idempotency-Key. */
const keepable = (answer: BytesResult): BytesResult =>
  answer.bytes instanceof Uint8Array
    ? { ...answer, bytes: { base64: Buffer.from(answer.bytes).toString('base64') } }
    : answer
