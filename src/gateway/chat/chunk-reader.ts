import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { tokensOfChars } from '../call/accounting/usage.ts'
import type { ChatDecoder } from '../call/chat-format.ts'
import { isUsageOnly } from '../providers/openai/openai-chunks.ts'
import type { ChatRestorer } from '../redaction/chat-restorer.ts'
import type { AnswerListener, AnswerReader, StreamEnd } from './answer-reader.ts'

/** Reads a stream of any format and passes it on as OpenAI chunks, with redacted personal data restored. */
export class ChunkReader implements AnswerReader {
  readonly #listener: Pick<AnswerListener, 'chunk' | 'words'>
  readonly #decoder: ChatDecoder
  readonly #hidesUsage: boolean
  readonly #restorer: ChatRestorer | null
  #chars = 0

  constructor(
    listener: Pick<AnswerListener, 'chunk' | 'words'>,
    decoder: ChatDecoder,
    options: { readonly hidesUsage: boolean; readonly restorer: ChatRestorer | null },
  ) {
    this.#listener = listener
    this.#decoder = decoder
    this.#hidesUsage = options.hidesUsage
    this.#restorer = options.restorer
  }

  get done(): boolean {
    return this.#decoder.done
  }

  get tokensSoFar(): number {
    return tokensOfChars(this.#chars)
  }

  push(bytes: Buffer): boolean {
    const chunks = this.#decoder.push(bytes)
    const { words = '' } = this.#decoder
    this.#chars += words.length
    const shown = words === '' ? '' : (this.#restorer?.words(words) ?? words)
    const wants = shown === '' || this.#listener.words?.(shown) !== false
    return chunks.length === 0 ? wants : this.#give(chunks)
  }

  finish(): StreamEnd {
    const { chunks, end } = this.#decoder.finish()
    this.#give(chunks)
    const kept = this.#restorer?.end() ?? null
    if (kept !== null) this.#listener.chunk(kept)
    return end
  }

  #give(chunks: readonly WireObject[]): boolean {
    let wants = true
    for (const chunk of chunks) {
      this.#chars += charsOf(chunk)
      if (!(this.#hidesUsage && isUsageOnly(chunk))) wants = this.#listener.chunk(this.#restorer?.chunk(chunk) ?? chunk)
    }
    return wants
  }
}

/**
 * Number of characters in a chunk. Chunk sizes differ between providers, so the number of chunks would be no measure of
 * length.
 */
const charsOf = ({ choices }: WireObject): number => {
  let chars = 0
  for (const choice of arrayOf(choices)) {
    const { content, refusal, reasoning_content, reasoning, tool_calls } = objectOf(objectOf(choice).delta)
    chars += textOf(content).length + textOf(refusal).length + (textOf(reasoning_content) || textOf(reasoning)).length
    if (tool_calls !== undefined) for (const call of arrayOf(tool_calls)) chars += charsOfCall(objectOf(call))
  }
  return chars
}

const charsOfCall = ({ function: called }: WireObject): number => {
  const { name, arguments: text } = objectOf(called)
  return textOf(name).length + textOf(text).length
}
