import { usageOf } from '#gateway/call/accounting/openai-usage.ts'
import type { AnswerEnd } from '#gateway/call/chat-format.ts'
import { streamBroken, streamedFailure } from '#gateway/call/failure.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

/** A parsed chunk. `changed`: it differs from what the provider sent. */
export interface ReadChunk {
  readonly chunk: WireObject
  readonly changed: boolean
}

/** Maximum number of choices of one chunk: callers can request 128, so a sender of more is broken or hostile. */
const maxChoices = 1_024

/** Collects the metadata of one answer from its chunks in OpenAI's format. */
export class OpenAiChunks {
  #model = ''
  #usage: TokenUsage | null = null
  #finishReason: string | null = null
  readonly #begun = new Set<unknown>()

  /**
   * Parses one chunk and notes its metadata.
   *
   * @returns the chunk; `role` is added to the first chunk of a choice when it is missing, because OpenAI clients rely
   * on it.
   * @throws {AttemptFailed} for data that is not a chunk, has more than 1,024 choices, or is an error object.
   */
  read(data: string): ReadChunk {
    return this.note(parsed(data))
  }

  /** Notes the metadata of a parsed chunk. @throws {AttemptFailed} as `read` */
  note(chunk: WireObject): ReadChunk {
    if (chunk.error !== undefined && chunk.error !== null) throw streamedFailure(chunk.error)
    if (this.#model === '') this.#model = textOf(chunk.model)
    if (isObject(chunk.usage)) this.#usage = usageOf(chunk.usage)
    const { choices } = chunk
    if (!Array.isArray(choices)) return { chunk, changed: false }
    if (choices.length > maxChoices) throw streamBroken()
    let lacking: Set<unknown> | undefined
    for (const choice of choices) {
      if (!isObject(choice) || !this.#begins(choice)) continue
      lacking ??= new Set()
      lacking.add(choice)
    }
    if (lacking === undefined) return { chunk, changed: false }
    return { chunk: { ...chunk, choices: rolesGiven(choices, lacking) }, changed: true }
  }

  /** Number of choices that have begun. */
  get begun(): number {
    return this.#begun.size
  }

  /** @throws {AttemptFailed} when the provider never sent a finish reason. */
  end(): AnswerEnd {
    if (this.#finishReason === null) throw streamBroken()
    return { model: this.#model, usage: this.#usage, finishReason: this.#finishReason }
  }

  /** Notes a choice. @returns whether it is the first chunk of its choice and has no role. */
  #begins(choice: WireObject): boolean {
    if (typeof choice.finish_reason === 'string') this.#finishReason = choice.finish_reason
    const { index = 0 } = choice
    if (this.#begun.has(index)) return false
    this.#begun.add(index)
    return typeof objectOf(choice.delta).role !== 'string'
  }
}

const rolesGiven = (choices: readonly unknown[], lacking: ReadonlySet<unknown>): readonly unknown[] =>
  choices.map((each) => withRole(each, lacking))

const withRole = (choice: unknown, lacking: ReadonlySet<unknown>): unknown =>
  isObject(choice) && lacking.has(choice)
    ? { ...choice, delta: { role: 'assistant', ...objectOf(choice.delta) } }
    : choice

/** The reason for which the first choice of a `chat.completion` ended; '' for none. */
export const finishOf = ({ choices }: WireObject): string => textOf(objectOf(arrayOf(choices)[0]).finish_reason)

/** Whether a chunk has nothing but the usage of the answer. */
export const isUsageOnly = (chunk: WireObject): boolean =>
  isObject(chunk.usage) && Array.isArray(chunk.choices) && chunk.choices.length === 0

function parsed(data: string): WireObject {
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch {
    throw streamBroken()
  }
  if (!isObject(chunk)) throw streamBroken()
  return chunk
}
