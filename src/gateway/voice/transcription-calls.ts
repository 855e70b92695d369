import { parseJson } from '#outgoing/wire.ts'
import type { TranscriptForm } from '#specs/audio.ts'
import { costHeader } from '../call/accounting/shown-cost.ts'
import type { CallPolicy } from '../call/call-policy.ts'
import type { Caller } from '../call/caller.ts'
import type { Usage } from '../prices/usage.ts'
import { containerTypes } from '../providers/voice/multipart.ts'
import type { Transcript, TranscriptionFormat, TranscriptionTask } from '../providers/voice/voice-format.ts'
import { voiceFormats } from '../providers/voice/voice-formats.ts'
import { audioLength, mostSeconds } from './audio-length.ts'
import { type TranscriptAnswer, transcriptAnswer, transcriptEvents } from './transcript-answer.ts'
import type { TranscriptionPlan, TranscriptionPlanner } from './transcription-planner.ts'
import type { TranscriptionRequest } from './transcription-task.ts'
import { readAnswer } from './voice-call.ts'
import { shown } from './voice-failure.ts'
import { type RunningJob, type Step, startJob, type VoiceJob, type VoiceJobParts } from './voice-job.ts'

/** A request for a transcript. */
export interface TranscriptionCall {
  readonly caller: Caller
  readonly operation: string
  /** null: a model dedicated to the language, else the first model of the registry. */
  readonly model: string | null
  readonly request: TranscriptionRequest
  readonly signal: AbortSignal
}

/** A transcript and its response headers. */
export type Transcribed = TranscriptAnswer & {
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export interface TranscriptionParts extends VoiceJobParts {
  readonly planner: Pick<TranscriptionPlanner, 'plan'>
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
    const job = await startJob(this.#parts, jobOf(call, plan, this.#parts.policy))
    const transcript = await transcriptOf(job)
    const { file, form, streamed, translates } = call.request
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

const jobOf = (
  { caller, operation, request, signal }: TranscriptionCall,
  { requestedModel, auto, steps }: TranscriptionPlan,
  policy: CallPolicy,
): VoiceJob<TranscriptionTask> => ({
  caller,
  operation,
  need: 'transcription',
  requestedModel,
  steps,
  everywhere: auto,
  signal,
  policy,
  streamed: false,
  most: () => mostOf(request),
  request: (step) => formatOf(step).request(step.task, step.route),
  logged: () => {
    const { file, ...rest } = request
    return { model: requestedModel, ...rest, file: { container: file.container, bytes: file.bytes.length } }
  },
})

const formatOf = ({ route }: Step<TranscriptionTask>): TranscriptionFormat => {
  const format = voiceFormats[route.format]
  if (format === undefined) throw new Error(`no voice format of ${route.format}`)
  return format.transcription
}

/**
 * Upper bound of usage. Gemini counts 32 tokens per second of audio; fast speech is about four tokens of text per
 * second.
 */
const mostOf = ({ file }: TranscriptionRequest): Usage => {
  const seconds = mostSeconds(file)
  return {
    seconds,
    tokens: { inputTokens: seconds * 32 + 500, outputTokens: seconds * 16, cachedTokens: 0, reasoningTokens: 0 },
  }
}

const transcriptOf = async (job: RunningJob<TranscriptionTask>): Promise<Transcript> => {
  try {
    const transcript = formatOf(job).transcript(parseJson(await textOf(job)), job.task)
    const { seconds, tokens, text } = transcript
    const units = { ...(seconds !== null && { seconds }), ...(tokens !== null && { tokens }) }
    job.end({ units, error: null, response: () => ({ text, seconds }) })
    return transcript
  } catch (caught) {
    const error = job.failure(caught)
    job.end({ units: null, error, response: () => ({ error: error.code }) })
    throw shown(error, caught)
  } finally {
    job.answer.close()
  }
}

const textOf = async ({ answer }: RunningJob<TranscriptionTask>): Promise<string> => {
  const parts: Buffer[] = []
  await readAnswer(answer, (part) => parts.push(part))
  return Buffer.concat(parts).toString('utf8')
}
