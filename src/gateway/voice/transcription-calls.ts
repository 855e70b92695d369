import { parseJson } from '#outgoing/wire.ts'
import type { TranscriptForm } from '#specs/audio.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { costHeader } from '../call/accounting/shown-cost.ts'
import type { CallPolicy } from '../call/call-policy.ts'
import type { Found, Redaction, Restorer } from '../call/redaction.ts'
import { orRefusal } from '../call/refusal.ts'
import type { GuardCall } from '../guardrails/guard-call.ts'
import type { Guardrails } from '../guardrails/stored-guardrails.ts'
import type { Usage } from '../prices/usage.ts'
import { containerTypes } from '../providers/voice/multipart.ts'
import type { TimedText, Transcript, TranscriptionTask } from '../providers/voice/voice-format.ts'
import { redacted } from '../redaction/redacted.ts'
import { audioLength, maxSeconds } from './audio-length.ts'
import { checkedTranscript } from './checked-transcript.ts'
import { type RuledPlanParts, ruledPlan } from './ruled-plan.ts'
import { type TranscriptAnswer, transcriptAnswer, transcriptEvents } from './transcript-answer.ts'
import type { TranscriptionRequest } from './transcription-task.ts'
import { readAnswer } from './voice-call.ts'
import { type RunningJob, readJob, startJob, type VoiceCall, type VoiceJobParts, voiceOf } from './voice-job.ts'

/** A request for a transcript. */
export type TranscriptionCall = VoiceCall<TranscriptionRequest>

/** A transcript and its response headers. */
export type Transcribed = TranscriptAnswer & {
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export interface TranscriptionParts extends VoiceJobParts, RuledPlanParts<TranscriptionRequest, TranscriptionTask> {
  readonly policy: CallPolicy
  readonly redaction: Pick<Redaction, 'policyOf'>
  /** Checks of prompts and transcripts; absent: none. */
  readonly guardrails?: Guardrails | undefined
}

/** Transcribes audio with any provider. */
export class TranscriptionCalls {
  readonly #parts: TranscriptionParts

  constructor(parts: TranscriptionParts) {
    this.#parts = parts
  }

  /** @throws {ServiceError} with the error codes of the operation `transcriptions.transcribe`. */
  async transcribe(call: TranscriptionCall): Promise<Transcribed> {
    const guard = (await this.#parts.guardrails?.open(call.caller)) ?? null
    const given = guard === null ? call.request : await checkedPrompt(call.request, guard)
    const { request, restorer, found } = await this.#redacted(call.caller.project, given)
    const { translates } = request
    const operation = translates ? 'transcriptions.translate' : 'transcriptions.transcribe'
    const plan = await ruledPlan(this.#parts, { ...call, request }, operation)
    const job = await startJob<TranscriptionTask>(this.#parts, {
      ...{ call, plan, need: 'transcription', policy: this.#parts.policy, streamed: false },
      max: () => maxOf(request),
      request: ({ task, route }) => voiceOf(route).transcription.request(task, route),
      logged: () => loggedOf(plan.requestedModel, request),
      redactions: found,
      guard,
    })
    const transcript = restored(await transcriptOf(job, guard), restorer)
    const { file, form, streamed } = request
    const own = [...job.headers, ...(guard?.report.headers() ?? [])]
    if (streamed) return { ...transcriptEvents(transcript, form), headers: own }
    const measured = saysLength(transcript, form) ? null : await audioLength(file.bytes, containerTypes[file.container])
    const answer = transcriptAnswer(transcript, { form, measured, task: translates ? 'translate' : 'transcribe' })
    return { ...answer, headers: [...own, ...costHeader(job.costUsd())] }
  }

  /** Redacts the prompt by the project's policy; the audio cannot be. */
  async #redacted(project: string, request: TranscriptionRequest): Promise<RedactedPrompt> {
    const policy = request.prompt === null ? null : await this.#parts.redaction.policyOf(project)
    if (request.prompt === null || policy?.input !== true) return { request, restorer: null }
    const { texts, restorer, found } = await redacted(policy, [request.prompt])
    return { request: { ...request, prompt: texts[0] ?? '' }, restorer, found }
  }
}

interface RedactedPrompt {
  readonly request: TranscriptionRequest
  readonly restorer: Restorer | null
  readonly found?: Found | undefined
}

/** A transcript with the personal data of the prompt, which models repeat as they spell it there. */
const restored = (transcript: Transcript, restorer: Restorer | null): Transcript => {
  if (restorer === null) return transcript
  const timed = (each: TimedText): TimedText => ({ ...each, text: restorer.restore(each.text) })
  const { text, segments, words } = transcript
  return { ...transcript, text: restorer.restore(text), segments: segments.map(timed), words: words.map(timed) }
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

/** @throws {ServiceError} `content_policy_violation` for one that a guardrail blocks; it is charged all the same. */
const transcriptOf = async (job: RunningJob<TranscriptionTask>, guard: GuardCall | null): Promise<Transcript> => {
  const made = await readJob(job, async () => {
    const heard = voiceOf(job.route).transcription.transcript(parseJson(await textOf(job)), job.task)
    const { seconds, tokens } = heard
    const units = { ...(seconds !== null && { seconds }), ...(tokens !== null && { tokens }) }
    const result = guard?.checksOutput === true ? await orRefusal(() => checkedTranscript(heard, guard)) : heard
    return { result, units, response: result instanceof ServiceError ? { error: result.code } : loggedText(result) }
  })
  if (made instanceof ServiceError) throw made
  return made
}

const loggedText = ({ text, seconds }: Transcript) => ({ text, seconds })

/** @throws {ServiceError} `content_policy_violation` */
const checkedPrompt = async (request: TranscriptionRequest, guard: GuardCall): Promise<TranscriptionRequest> => {
  if (request.prompt === null) return request
  const [prompt = ''] = await guard.texts([request.prompt])
  return { ...request, prompt }
}

const textOf = async ({ answer }: RunningJob<TranscriptionTask>): Promise<string> => {
  const parts: Buffer[] = []
  await readAnswer(answer, (part) => parts.push(part))
  return Buffer.concat(parts).toString('utf8')
}
