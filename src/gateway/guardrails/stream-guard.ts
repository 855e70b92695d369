import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { chunksOf } from '../providers/chunks-of.ts'
import { completionOf } from '../providers/completion-of.ts'
import { thoughtFields, writtenFields } from './chat-texts.ts'
import type { GuardCall } from './guard-call.ts'
import { TextWindow } from './text-window.ts'

/** Characters of a stream that are held for checks that need the whole answer; a longer one is blocked. */
const maxWhole = 4 * 1024 * 1024

/** Fields of a delta that are held back until they are complete. */
const heldFields: ReadonlySet<string> = new Set(['tool_calls', 'function_call', ...thoughtFields])

/** Fields of a delta that are passed on. Others, in which some providers repeat the text, are left out. */
const passedFields: ReadonlySet<string> = new Set(['role', 'images', 'annotations', ...writtenFields])

interface ChoiceWindows {
  readonly texts: Map<string, TextWindow>
  /** Deltas of tool calls and of lists of thoughts, which are held until they are complete. */
  readonly whole: WireObject[]
  finish: unknown
  /** How it ended, beside the reason. */
  ending: WireObject
}

/** The guardrails of one streamed answer: it holds back what may not be sent yet. */
export class StreamGuard {
  readonly #call: GuardCall
  readonly #choices = new Map<number, ChoiceWindows>()
  /** The chunks of an answer that is checked as a whole; null for one that is checked as it arrives. */
  readonly #whole: WireObject[] | null
  #chars = 0
  #head: WireObject = {}
  /** Whether the answer is blocked: nothing more may be sent but `refusal`. */
  isBlocked = false

  constructor(call: GuardCall) {
    this.#call = call
    this.#whole = call.set.output.remote.length > 0 ? [] : null
  }

  /** Takes the next chunk. Returns the chunk that can be sent; null for none. */
  chunk(chunk: WireObject): WireObject | null {
    const choices = arrayOf(chunk.choices)
    if (choices.length === 0) return chunk
    const { choices: _choices, usage: _usage, ...head } = chunk
    this.#head = head
    if (this.#whole !== null) return this.#kept(chunk, this.#whole)
    const shown = choices.flatMap((choice) => (isObject(choice) ? this.#shown(choice) : []))
    return shown.length === 0 && chunk.usage === undefined ? null : { ...chunk, choices: shown }
  }

  /** Checks what was held back when the answer is complete. Returns the last chunks. */
  end(): readonly WireObject[] | Promise<readonly WireObject[]> {
    const rest = this.#whole === null ? this.#rest() : completionOf(this.#whole)
    if (arrayOf(rest.choices).length === 0) return []
    const checked = this.#call.answer(rest)
    return checked instanceof Promise ? checked.then((late) => this.#last(late)) : this.#last(checked)
  }

  /** The last chunk of an answer that is blocked before its end. */
  get refusal(): WireObject {
    const indexes = this.#choices.size === 0 ? [0] : [...this.#choices.keys()]
    return { ...this.#head, choices: indexes.map((index) => ({ index, delta: {}, finish_reason: 'content_filter' })) }
  }

  #kept(chunk: WireObject, whole: WireObject[]): null {
    whole.push(chunk)
    for (const choice of arrayOf(chunk.choices))
      this.#chars += textOf(objectOf(objectOf(choice).delta).content).length + 16
    this.isBlocked ||= this.#chars > maxWhole
    return null
  }

  #shown(choice: WireObject): readonly WireObject[] {
    const windows = this.#of(choice)
    const given = Object.entries(objectOf(choice.delta))
    const held = given.filter(([name]) => heldFields.has(name))
    if (held.length > 0) windows.whole.push(Object.fromEntries(held))
    const delta: Record<string, unknown> = Object.fromEntries(given.filter(([name]) => passedFields.has(name)))
    for (const name of writtenFields) {
      const part = delta[name]
      if (typeof part !== 'string') continue
      const window = this.#window(windows, name)
      const text = window.push(part)
      this.isBlocked ||= window.isBlocked
      if (text === '' && part !== '') delete delta[name]
      else delta[name] = text
    }
    if (choice.finish_reason !== null && choice.finish_reason !== undefined) {
      windows.finish = choice.finish_reason
      windows.ending = endingOf(choice)
    }
    if (Object.keys(delta).length === 0) return []
    // they have the text that is held back, token by token
    const logprobs = choice.logprobs === undefined ? {} : { logprobs: null }
    return [{ ...choice, ...logprobs, delta, finish_reason: null }]
  }

  #window({ texts }: ChoiceWindows, name: string): TextWindow {
    const known = texts.get(name)
    if (known !== undefined) return known
    const made = new TextWindow(this.#call.set.output.local, (active, found) =>
      this.#call.note(active, 'output', found),
    )
    texts.set(name, made)
    return made
  }

  #of(choice: WireObject): ChoiceWindows {
    const index = countOf(choice.index)
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    const made: ChoiceWindows = { texts: new Map(), whole: [], finish: null, ending: {} }
    this.#choices.set(index, made)
    return made
  }

  /** What is held back, as an answer. */
  #rest(): WireObject {
    const choices = [...this.#choices].map(([index, { texts, whole, finish, ending }]) => {
      const held = [...texts].flatMap(([name, window]) => (window.held === '' ? [] : [[name, window.held]]))
      const called = completionOf(whole.map((delta) => ({ choices: [{ index: 0, delta }] })))
      const { content: _text, ...message } = objectOf(objectOf(arrayOf(called.choices)[0]).message)
      return { index, message: { ...message, ...Object.fromEntries(held) }, finish_reason: finish, ...ending }
    })
    return { ...this.#head, choices }
  }

  #last(checked: WireObject): readonly WireObject[] {
    const finishes = arrayOf(checked.choices).map((choice) => objectOf(choice).finish_reason)
    this.isBlocked ||= finishes.includes('content_filter')
    const { usage: _usage, ...answer } = checked
    return chunksOf({ ...this.#head, ...answer }, false)
  }
}

/** Fields of a choice by which readers know a stop sequence, or that a provider paused. */
const endingOf = ({ stop_reason, native_finish_reason, container }: WireObject): WireObject => ({
  ...(stop_reason !== undefined && { stop_reason }),
  ...(native_finish_reason !== undefined && { native_finish_reason }),
  ...(container !== undefined && { container }),
})
