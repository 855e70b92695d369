import { ServiceError } from '#specs/errors/errors.ts'
import type { GuardCall } from '../guardrails/guard-call.ts'
import type { TimedText, Transcript } from '../providers/voice/voice-format.ts'

/**
 * Checks what was heard. Where a text is replaced, words with times are left out, and segments too if what is replaced
 * spans them.
 *
 * @throws {ServiceError} `content_policy_violation`; the transcript has been paid for by then.
 */
export const checkedTranscript = async (transcript: Transcript, guard: GuardCall): Promise<Transcript> => {
  const { text, segments } = transcript
  const made = await guard.written([text, ...segments.map((segment) => segment.text)])
  if (made === null) {
    const message = 'A guardrail blocked the transcript.'
    throw new ServiceError('content_policy_violation', { message })
  }
  const [checked = '', ...parts] = made
  const isSame = checked === text && parts.every((part, at) => part === segments[at]?.text)
  if (isSame) return transcript
  const kept = segments.map((segment, at) => ({ ...segment, text: parts[at] ?? '' }))
  return { ...transcript, text: checked, words: [], segments: spansOf(kept, checked) }
}

/** The segments if together they say what the text says, otherwise the text as one. */
const spansOf = (segments: readonly TimedText[], text: string): readonly TimedText[] => {
  const [first] = segments
  const last = segments.at(-1)
  if (first === undefined || last === undefined) return segments
  if (plain(segments.map((segment) => segment.text).join(' ')) === plain(text)) return segments
  return [{ start: first.start, end: last.end, text, speaker: first.speaker }]
}

const plain = (text: string): string => text.replace(/\s+/g, '')
