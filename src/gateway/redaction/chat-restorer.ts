import { pieceBytes } from '#outgoing/shares/json-spans.ts'
import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import type { Restorer } from '../call/redaction.ts'
import { mapOwnTool } from './own-tools.ts'
import { RestoredCitations } from './restored-citations.ts'

/** Fields of a message, and of a delta, that hold text written by the model. */
const wordFields = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Texts within a field of a delta: the call of a function without an id, and what a model speaks. */
const nestedFields = [
  ['function_call', 'arguments'],
  ['audio', 'transcript'],
] as const

/** Whether the text or the tool calls of a choice contain a character that can begin a placeholder. */
const mayHold = (choice: unknown): boolean => {
  const { message } = objectOf(choice)
  if (!isObject(message)) return false
  const { content, reasoning_content, reasoning, refusal, tool_calls, function_call } = message
  if (isWritten(content) || isWritten(reasoning_content) || isWritten(reasoning) || isWritten(refusal)) return true
  if (arrayOf(message.thinking_blocks).length > 0) return true
  if (arrayOf(message.citations).some(mayCite) || arrayOf(message.annotations).some(mayCite)) return true
  if (isWritten(objectOf(message.audio).transcript)) return true
  return isWritten(objectOf(function_call).arguments) || arrayOf(tool_calls).some(mayCall)
}

/** Titles come from documents too. */
const mayCite = (quote: unknown): boolean =>
  [quote, objectOf(quote).url_citation].some((each) => Object.values(objectOf(each)).some(isWritten))

const mayCall = (call: unknown): boolean => {
  const { function: called, custom } = objectOf(call)
  return isWritten(objectOf(called).arguments) || isWritten(objectOf(custom).input)
}

const isWritten = (text: unknown): boolean => typeof text === 'string' && (text.includes('[') || text.includes('\\'))

/** Blocks come whole. A caller sends them back, with the values that the rest of the conversation has. */
const ownTools = ({ thinking_blocks }: WireObject, restorer: Restorer): WireObject =>
  Array.isArray(thinking_blocks)
    ? { thinking_blocks: thinking_blocks.map((block) => mapOwnTool(block, (text) => restorer.restore(text))) }
    : none

const none: WireObject = {}

const firstChoice: WireObject = { index: 0 }

/** Restores placeholders in the response to one chat request, whole or streamed (OpenAI's documents). */
export class ChatRestorer {
  readonly #restorer: Restorer
  readonly #choices = new Map<number, ChoiceRestorer>()
  #last: WireObject = {}

  constructor(restorer: Restorer) {
    this.#restorer = restorer
  }

  /** Restores a whole `chat.completion`; null when none of its texts contains a character that can begin a placeholder. */
  restoring(completion: WireObject): SlicedWork<WireObject> | null {
    return arrayOf(completion.choices).some(mayHold) ? this.completion(completion) : null
  }

  /** Restores a whole `chat.completion`, in steps, since its texts may be long. */
  *completion(completion: WireObject): SlicedWork<WireObject> {
    const choices: unknown[] = []
    for (const choice of arrayOf(completion.choices)) choices.push(yield* this.#choice(choice))
    return { ...completion, choices }
  }

  /**
   * Restores the next `chat.completion.chunk`. Text that may be part of a placeholder is held back for a later chunk.
   */
  chunk(chunk: WireObject): WireObject {
    const choices = arrayOf(chunk.choices)
    if (choices.length === 0) return chunk
    this.#last = chunk
    return { ...chunk, choices: choices.map((choice) => (isObject(choice) ? this.#of(choice).next(choice) : choice)) }
  }

  /** Restores the next text of the first choice, like a chunk that has nothing else. */
  words(text: string): string {
    return this.#of(firstChoice).words(text)
  }

  /**
   * Returns the text still held back when a stream ends without a finish reason, as one more chunk; null when there is
   * none.
   */
  end(): WireObject | null {
    const choices = [...this.#choices].flatMap(([index, choice]) => {
      const delta = choice.rest({})
      return Object.keys(delta).length === 0 ? [] : [{ index, delta, finish_reason: null }]
    })
    const { usage: _counted, ...head } = this.#last
    return choices.length === 0 ? null : { ...head, choices }
  }

  *#choice(choice: unknown): SlicedWork<unknown> {
    if (!isObject(choice) || !isObject(choice.message)) return choice
    const cited = new RestoredCitations(this.#restorer)
    cited.add(textOf(choice.message.content))
    const tools = ownTools(choice.message, this.#restorer)
    const message: Record<string, unknown> = { ...choice.message, ...cited.fields(choice.message), ...tools }
    for (const name of wordFields) {
      const words = message[name]
      if (typeof words === 'string') message[name] = yield* this.#restored(words)
    }
    if (Array.isArray(message.tool_calls)) {
      const calls: unknown[] = []
      for (const call of message.tool_calls) calls.push(yield* this.#call(call))
      message.tool_calls = calls
    }
    if (isObject(message.function_call)) message.function_call = yield* this.#with(message.function_call, 'arguments')
    if (isObject(message.audio)) message.audio = yield* this.#with(message.audio, 'transcript')
    return { ...choice, message }
  }

  *#call(call: unknown): SlicedWork<unknown> {
    if (!isObject(call)) return call
    if (isObject(call.custom)) return { ...call, custom: yield* this.#with(call.custom, 'input') }
    return isObject(call.function) ? { ...call, function: yield* this.#with(call.function, 'arguments') } : call
  }

  *#with(called: WireObject, field: 'arguments' | 'input' | 'transcript'): SlicedWork<WireObject> {
    const text = called[field]
    return typeof text === 'string' ? { ...called, [field]: yield* this.#restored(text) } : called
  }

  /** Processes a long text in pieces, as if it were streamed. */
  *#restored(text: string): SlicedWork<string> {
    if (text.length <= pieceBytes) return this.#restorer.restore(text)
    const restorer = this.#restorer.fork()
    const parts: string[] = []
    for (let at = 0; at < text.length; at += pieceBytes) {
      parts.push(restorer.push(text.slice(at, at + pieceBytes)))
      yield
    }
    return parts.join('') + restorer.end()
  }

  #of(choice: WireObject): ChoiceRestorer {
    const index = countOf(choice.index)
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    const made = new ChoiceRestorer(this.#restorer)
    this.#choices.set(index, made)
    return made
  }
}

interface CallRestorer {
  readonly restorer: Restorer
  /** Whether it is a call of a custom tool, whose input is text instead of JSON. */
  readonly custom: boolean
}

/** Restores the streams of one choice: each text field and each tool call is a separate stream. */
class ChoiceRestorer {
  readonly #restorer: Restorer
  readonly #words = new Map<string, Restorer>()
  readonly #nested = new Map<string, Restorer>()
  readonly #calls = new Map<number, CallRestorer>()
  readonly #cited: RestoredCitations

  constructor(restorer: Restorer) {
    this.#restorer = restorer
    this.#cited = new RestoredCitations(restorer)
  }

  words(text: string): string {
    this.#cited.add(text)
    return this.#wordsOf('content').push(text)
  }

  next(choice: WireObject): WireObject {
    const given = objectOf(choice.delta)
    this.#cited.add(textOf(given.content))
    const delta: Record<string, unknown> = {
      ...given,
      ...this.#cited.fields(given),
      ...ownTools(given, this.#restorer),
    }
    for (const name of wordFields) {
      const words = delta[name]
      if (typeof words === 'string') delta[name] = this.#wordsOf(name).push(words)
    }
    for (const [name, field] of nestedFields) {
      const { [name]: within } = given
      if (isObject(within) && typeof within[field] === 'string')
        delta[name] = { ...within, [field]: this.#nestedOf(name).push(within[field]) }
    }
    // they end a block of text, in which a placeholder ends too
    if (Array.isArray(delta.citations)) {
      const kept = textOf(delta.content) + this.#wordsOf('content').end()
      if (kept !== '') delta.content = kept
    }
    if (Array.isArray(delta.tool_calls)) delta.tool_calls = delta.tool_calls.map((call, at) => this.#call(call, at))
    const over = choice.finish_reason !== null && choice.finish_reason !== undefined
    return { ...choice, delta: over ? this.rest(delta) : delta }
  }

  /** Returns the delta with all text held back so far. */
  rest(delta: WireObject): WireObject {
    const whole: Record<string, unknown> = { ...delta }
    for (const [name, restorer] of this.#words) {
      const kept = restorer.end()
      if (kept !== '') whole[name] = textOf(whole[name]) + kept
    }
    for (const [name, field] of nestedFields) {
      const kept = this.#nested.get(name)?.end() ?? ''
      const within = objectOf(whole[name])
      if (kept !== '') whole[name] = { ...within, [field]: textOf(within[field]) + kept }
    }
    const calls = [...this.#calls].flatMap(([index, { restorer, custom }]) => {
      const kept = restorer.end()
      if (kept === '') return []
      return [custom ? { index, custom: { input: kept } } : { index, function: { arguments: kept } }]
    })
    if (calls.length > 0) whole.tool_calls = [...arrayOf(whole.tool_calls), ...calls]
    return whole
  }

  #call(call: unknown, at: number): unknown {
    if (!isObject(call)) return call
    const index = typeof call.index === 'number' ? call.index : at
    const { function: called, custom } = call
    if (isObject(custom) && typeof custom.input === 'string')
      return { ...call, custom: { ...custom, input: this.#callOf(index, true).push(custom.input) } }
    if (!isObject(called) || typeof called.arguments !== 'string') return call
    return { ...call, function: { ...called, arguments: this.#callOf(index, false).push(called.arguments) } }
  }

  #wordsOf(name: string): Restorer {
    const known = this.#words.get(name) ?? this.#restorer.fork()
    this.#words.set(name, known)
    return known
  }

  #nestedOf(name: string): Restorer {
    const known = this.#nested.get(name) ?? this.#restorer.fork()
    this.#nested.set(name, known)
    return known
  }

  #callOf(index: number, custom: boolean): Restorer {
    const known = this.#calls.get(index) ?? { restorer: this.#restorer.fork(), custom }
    this.#calls.set(index, known)
    return known.restorer
  }
}
