import type { ByteStream } from '#actors/call/call.ts'
import type { BytesResult } from '#actors/call/use-cases.ts'
import { audioTypes } from '#specs/audio.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { costHeader } from '../call/accounting/shown-cost.ts'
import type { CallPolicy } from '../call/call-policy.ts'
import type { Found, Redaction } from '../call/redaction.ts'
import type { GuardCall } from '../guardrails/guard-call.ts'
import type { Guardrails } from '../guardrails/stored-guardrails.ts'
import type { TokenUsage, Usage } from '../prices/usage.ts'
import type { AudioReader, SpeechTask } from '../providers/voice/voice-format.ts'
import { redacted } from '../redaction/redacted.ts'
import { unredactedHeader } from '../redaction/redaction-header.ts'
import { audioStream } from './audio-stream.ts'
import { type RuledPlanParts, ruledPlan } from './ruled-plan.ts'
import { speechEvents } from './speech-events.ts'
import { charactersOf, type SpeechRequest } from './speech-task.ts'
import { readAnswer } from './voice-call.ts'
import { type RunningJob, readJob, startJob, type VoiceCall, type VoiceJobParts, voiceOf } from './voice-job.ts'

export type SpeechCall = VoiceCall<SpeechRequest>

export interface SpeechParts extends VoiceJobParts, RuledPlanParts<SpeechRequest, SpeechTask> {
  readonly redaction: Pick<Redaction, 'policyOf'>
  /** Checks of the texts; absent: none. */
  readonly guardrails?: Guardrails | undefined
  readonly policy: CallPolicy
}

/** Synthesises speech with any provider. */
export class SpeechCalls {
  readonly #parts: SpeechParts

  constructor(parts: SpeechParts) {
    this.#parts = parts
  }

  /**
   * @throws {ServiceError} with the error codes of the operation `speech.speak`; only before the first byte is sent.
   */
  async speak(call: SpeechCall): Promise<BytesResult> {
    const guard = (await this.#parts.guardrails?.open(call.caller)) ?? null
    const { request, found, isRedacted } = await this.#redacted(guard === null ? call : await checked(call, guard))
    const plan = await ruledPlan(this.#parts, { ...call, request }, 'speech.speak')
    const job = await startJob<SpeechTask>(this.#parts, {
      ...{ call, plan, need: 'speech', policy: this.#parts.policy },
      streamed: request.streamed,
      max: () => maxOf(request.text),
      request: ({ task, route }) => voiceOf(route).speech.request(task, route),
      logged: () => ({ model: plan.requestedModel, ...request }),
      redactions: found,
      guard,
    })
    const characters = charactersOf(request.text)
    const { answer: given, tokens } = job.task.streamed
      ? streamed(job, characters, call.signal)
      : await whole(job, characters)
    const answer = {
      ...given,
      headers: [...(given.headers ?? []), ...unredactedHeader(isRedacted), ...(guard?.report.headers() ?? [])],
    }
    return request.events ? speechEvents(answer, tokens) : answer
  }

  /** Redacts the text by the project's policy: data that is withheld from providers is spoken as its placeholder. */
  async #redacted({ caller, request }: SpeechCall): Promise<RedactedSpeech> {
    const policy = await this.#parts.redaction.policyOf(caller.project)
    if (policy?.speech !== true) return { request, isRedacted: false }
    const { texts, found } = await redacted(policy, [request.text])
    return { request: { ...request, text: texts[0] ?? request.text }, found, isRedacted: true }
  }
}

/** @throws {ServiceError} `content_policy_violation` */
const checked = async (call: SpeechCall, guard: GuardCall): Promise<SpeechCall> => {
  const [text = ''] = await guard.texts([call.request.text])
  return { ...call, request: { ...call.request, text } }
}

interface RedactedSpeech {
  readonly request: SpeechRequest
  readonly found?: Found | undefined
  /** Whether the policy covers the text. */
  readonly isRedacted: boolean
}

/** Upper bound of usage. Slow speech is eight characters per second; Gemini produces 25 tokens per second. */
const maxOf = (text: string): Usage => {
  const characters = charactersOf(text)
  const seconds = Math.ceil(characters / 8) + 1
  const tokens = { inputTokens: characters, outputTokens: seconds * 32, cachedTokens: 0, reasoningTokens: 0 }
  return { characters, seconds, tokens }
}

const unitsOf = (characters: number, { tokens }: AudioReader): Usage =>
  tokens === null ? { characters } : { characters, tokens }

const head = ({ task, headers }: RunningJob<SpeechTask>, more: BytesResult['headers'] = []) => ({
  contentType: audioTypes[task.format],
  headers: [...headers, ...more],
})

/** A response, and the provider's token usage, which is known once the audio is complete. */
interface Spoken {
  readonly answer: BytesResult
  readonly tokens: () => TokenUsage | null
}

const whole = (job: RunningJob<SpeechTask>, characters: number): Promise<Spoken> =>
  readJob(job, async () => {
    const reader = voiceOf(job.route).speech.reader(job.task)
    const parts: Buffer[] = []
    await readAnswer(job.answer, (part) => parts.push(...reader.push(part)))
    const bytes = Buffer.concat([...parts, ...reader.end()])
    const result = { bytes, tokens: () => reader.tokens }
    return { result, units: unitsOf(characters, reader), response: { bytes: bytes.length } }
  }).then(({ bytes, tokens }) => ({ answer: { ...head(job, costHeader(job.costUsd())), bytes }, tokens }))

const streamed = (job: RunningJob<SpeechTask>, characters: number, signal: AbortSignal): Spoken => {
  const reader = voiceOf(job.route).speech.reader(job.task)
  let sent = 0
  const over = (error: ServiceError | null, used: boolean): void => {
    const units = used ? unitsOf(characters, reader) : null
    job.end({ units, error, response: () => (error === null ? { bytes: sent } : { bytes: sent, error: error.code }) })
  }
  const bytes: ByteStream = audioStream(job.answer, reader, {
    signal,
    watcher: {
      sent: (count) => {
        sent += count
      },
      whole: () => over(null, true),
      // the provider has generated the audio, and charges for it, although the client has disconnected
      left: (reason) => over(job.failure(reason), true),
      broken: (reason) => over(job.failure(reason), false),
    },
  })
  return { answer: { ...head(job, [['x-stream', 'true']]), bytes }, tokens: () => reader.tokens }
}
