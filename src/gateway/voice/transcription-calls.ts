import { parseJson } from '#outgoing/wire.ts'
import type { TranscriptForm } from '#specs/audio.ts'
import { costHeader } from '../call/accounting/shown-cost.ts'
import type { CallPolicy } from '../call/call-policy.ts'
import type { Usage } from '../prices/usage.ts'
import { containerTypes } from '../providers/voice/multipart.ts'
import type { Transcript, TranscriptionTask } from '../providers/voice/voice-format.ts'
import { audioLength, maxSeconds } from './audio-length.ts'
import { type TranscriptAnswer, transcriptAnswer, transcriptEvents } from './transcript-answer.ts'
import type { TranscriptionRequest } from './transcription-task.ts'
import { readAnswer } from './voice-call.ts'
import { type RunningJob, readJob, startJob, type VoiceCall, type VoiceJobParts, voiceOf } from './voice-job.ts'
import type { Planner } from './voice-planner.ts'

/** A request for a transcript. */
export type TranscriptionCall = VoiceCall<TranscriptionRequest>

/** A transcript and its response headers. */
export type Transcribed = TranscriptAnswer & {
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export interface TranscriptionParts extends VoiceJobParts {
  readonly planner: Planner<TranscriptionRequest, TranscriptionTask>
  readonly policy: CallPolicy
}

/** Transcribes audio with any provider. */
export class TranscriptionCalls {
  readonly #parts: TranscriptionParts

  constructor(parts: TranscriptionParts) {
    this.#parts = parts
  }

  /** @throws {ServiceError} with the error codes of the operation `transcriptions.transcribe`. */
  async transcribe(call: TranscriptionCall): Promise<Transcribed> {
    const plan = await this.#parts.planner.plan(call.caller.project, call.model, call.request)
    const { request } = call
    const job = await startJob<TranscriptionTask>(this.#parts, {
      ...{ call, plan, need: 'transcription', policy: this.#parts.policy, streamed: false },
      max: () => maxOf(request),
      request: ({ task, route }) => voiceOf(route).transcription.request(task, route),
      logged: () => loggedOf(plan.requestedModel, request),
    })
    const transcript = await transcriptOf(job)
    const { file, form, streamed, translates } = request
    if (streamed) return { ...transcriptEvents(transcript, form), headers: job.headers }
    const measured = saysLength(transcript, form) ? null : await audioLength(file.bytes, containerTypes[file.container])
    const answer = transcriptAnswer(transcript, { form, measured, task: translates ? 'translate' : 'transcribe' })
    return { ...answer, headers: [...job.headers, ...costHeader(job.costUsd())] }
  }
}

/** Whether the response can be built from what the provider reported, without measuring the length of the file. */
const saysLength = ({ seconds, tokens }: Transcript, form: TranscriptForm): boolean => {
  if (seconds !== null) return true
  return form === 'json' ? tokens !== null : form !== 'verbose_json' && form !== 'diarized_json'
}

const loggedOf = (model: string, { file, ...rest }: TranscriptionRequest) => ({
  ...{ model, ...rest },
  file: { container: file.container, bytes: file.bytes.length },
})

/**
 * Upper bound of usage. Gemini counts 32 tokens per second of audio; fast speech is about four tokens of text per
 * second.
 */
const maxOf = ({ file }: TranscriptionRequest): Usage => {
  const seconds = maxSeconds(file)
  return {
    seconds,
    tokens: { inputTokens: seconds * 32 + 500, outputTokens: seconds * 16, cachedTokens: 0, reasoningTokens: 0 },
  }
}

const transcriptOf = (job: RunningJob<TranscriptionTask>): Promise<Transcript> =>
  readJob(job, async () => {
    const result = voiceOf(job.route).transcription.transcript(parseJson(await textOf(job)), job.task)
    const { seconds, tokens, text } = result
    const units = { ...(seconds !== null && { seconds }), ...(tokens !== null && { tokens }) }
    return { result, units, response: { text, seconds } }
  })

const textOf = async ({ answer }: RunningJob<TranscriptionTask>): Promise<string> => {
  const parts: Buffer[] = []
  await readAnswer(answer, (part) => parts.push(part))
  return Buffer.concat(parts).toString('utf8')
}
