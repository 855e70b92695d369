import type { ModelMessage, ModelToolCall } from '#gateway/call/provider-port.ts'
import type { Cut } from '#machines/session/session-data.ts'
import type { Json, JsonObject, LogEvent } from '#storage/index.ts'
import { isObject } from '../runtime/index.ts'
import { withoutCuts } from './context/compaction-plan.ts'
import { conversationState } from './schema.ts'

/** The assistant answer that is still being assembled: its text, its calls and their outputs. */
interface OpenAnswer {
  readonly text: string
  readonly calls: readonly ModelToolCall[]
  readonly outputs: Readonly<Record<string, string>>
}

/** A conversation as stored in a checkpoint. */
export interface ConversationState {
  /** Sequence of the last event that was applied. */
  readonly through: number
  readonly messages: readonly ModelMessage[]
  readonly open: OpenAnswer
}

const nothingOpen: OpenAnswer = { text: '', calls: [], outputs: {} }

/** Memory per character: the encoded bytes of a text are cached as well, with room to grow (turn-bytes.ts). */
const bytesACharacter = 2.5
/** Memory for the objects of a message and of its calls. */
const bytesAMessage = 250

/** Model APIs require an output for each tool call, also where there is none. */
const noOutput = JSON.stringify({ error: { code: 'no_output', message: 'This call was not carried out.' } })

/**
 * The conversation of a session: its log folded in order, from the first event or from a checkpoint
 * (specs/decisions/0001-sessions.md). A message never changes once it is made, so providers encode each message once.
 */
export class Conversation {
  #through: number
  /** Replaced by a new array after a compaction, because encodings are cached by the identity of the array. */
  #messages: ModelMessage[]
  #open: OpenAnswer
  /** Length of all texts. */
  #length = 0

  constructor(state: ConversationState = { through: 0, messages: [], open: nothingOpen }) {
    this.#through = state.through
    this.#messages = [...state.messages]
    this.#open = state.open
    for (const message of this.#messages) this.#length += message.content.length
  }

  /** Sequence of the last event that was applied. */
  get through(): number {
    return this.#through
  }

  /** Approximate memory of the conversation in bytes, assuming mostly ASCII text. */
  get size(): number {
    return this.#length * bytesACharacter + this.#messages.length * bytesAMessage
  }

  get state(): ConversationState {
    return { through: this.#through, messages: this.#messages, open: this.#open }
  }

  /** Applies events that follow `through`; older events are ignored. */
  apply(events: readonly LogEvent[]): void {
    for (const event of events) {
      if (event.sequence <= this.#through) continue
      this.#take(event)
      this.#through = event.sequence
    }
  }

  /**
   * Returns the messages for the next model call, in which every tool call has an output. Text without calls is that of a
   * call that a crash cut, which is made again without it.
   */
  forModel(): readonly ModelMessage[] {
    if (this.#open.calls.length > 0) this.#close()
    return this.#messages
  }

  #take({ event_type, payload, hidden }: LogEvent): void {
    switch (event_type) {
      case 'session.forked':
        this.#continue(hidden?.conversation)
        return
      case 'turn.started':
        this.#startTurn(payload)
        return
      case 'output_text.delta':
        // text of answers before, which a restart repeats for readers
        if (hidden?.kept === true) return
        if (this.#open.calls.length > 0) this.#close()
        this.#open = { ...this.#open, text: this.#open.text + text(payload.delta) }
        return
      case 'turn.restarted':
        // the call in progress is made again; with calls, this is the answer before it, which stays
        if (this.#open.calls.length === 0) this.#open = nothingOpen
        return
      case 'tool_call.started':
        // All calls of an answer are logged before their first output, so this call belongs to the next answer.
        if (this.#answered()) this.#close()
        this.#open = { ...this.#open, calls: [...this.#open.calls, callOf(payload, hidden)] }
        return
      case 'tool_call.completed':
        this.#output(payload.action_id, payload.output)
        return
      case 'turn.resumed':
        this.#resolved(payload, text(hidden?.note))
        return
      case 'context.compacted':
        this.#close()
        this.#compact(cutsOf(hidden?.cuts), payload.summary)
        return
      case 'turn.failed':
        this.#close()
        return
      case 'guardrail.triggered':
      case 'reasoning.delta':
        return
      default:
        if (this.#open.calls.length === 0) this.#close()
    }
  }

  /** Starts a fork of a long session with the conversation that precedes the copied events. */
  #continue(text: Json | undefined): void {
    if (typeof text !== 'string') return
    const { messages, open } = conversationState(text)
    this.#messages = [...messages]
    this.#open = open
    this.#length = messages.reduce((size, { content }) => size + content.length, 0)
  }

  #compact(cuts: readonly Cut[], summary: Json | undefined): void {
    const instead = typeof summary === 'string' ? summaryMessage(summary, cuts[0]?.[0] === 0) : null
    this.#messages = [...withoutCuts(this.#messages, cuts, instead)]
    this.#length = this.#messages.reduce((size, { content }) => size + content.length, 0)
  }

  #answered(): boolean {
    return this.#open.calls.some((call) => call.callId in this.#open.outputs)
  }

  #startTurn(payload: JsonObject): void {
    const results = payload.tool_results
    for (const result of Array.isArray(results) ? results : []) {
      if (isObject(result)) this.#output(result.action_id, result.output)
    }
    this.#close()
    if (payload.retry_of === undefined) this.#addInput(text(payload.input_text), payload.input)
    else this.#dropCutAnswer()
  }

  #addInput(content: string, input: Json | undefined): void {
    if (Array.isArray(input)) this.#add({ role: 'user', content, parts: input.filter(isObject) })
    else if (content !== '') this.#add({ role: 'user', content })
  }

  /** Drops what a failed model call had written, which a retry makes again. Calls that it made before stay. */
  #dropCutAnswer(): void {
    const last = this.#messages.at(-1)
    if (last?.role !== 'assistant' || last.toolCalls.length > 0) return
    this.#messages = this.#messages.slice(0, -1)
    this.#length -= last.content.length
  }

  #resolved(payload: JsonObject, note: string): void {
    if (payload.resolution === 'rejected') this.#output(payload.action_id, rejection(payload.reason, note))
    else {
      if (payload.arguments !== undefined) this.#edit(payload.action_id, payload.arguments)
      if (payload.output !== undefined) this.#output(payload.action_id, payload.output)
    }
  }

  /** Shows the model the arguments that the tool actually received, consistent with its output. */
  #edit(actionId: Json | undefined, edits: Json): void {
    const calls = this.#open.calls.map((call) =>
      call.callId === actionId ? { ...call, arguments: JSON.stringify(edits) } : call,
    )
    this.#open = { ...this.#open, calls }
  }

  #output(actionId: Json | undefined, output: Json | undefined): void {
    this.#open = { ...this.#open, outputs: { ...this.#open.outputs, [text(actionId)]: text(output) } }
  }

  /** Turns the open answer into final messages. */
  #close(): void {
    const { text: content, calls, outputs } = this.#open
    if (content === '' && calls.length === 0) return
    this.#add({ role: 'assistant', content, toolCalls: calls })
    for (const { callId, name } of calls) {
      this.#add({ role: 'tool', callId, name, content: outputs[callId] ?? noOutput })
    }
    this.#open = nothingOpen
  }

  #add(message: ModelMessage): void {
    this.#messages.push(message)
    this.#length += message.content.length
  }
}

/** The tool output that a model gets for a rejected or expired call. */
const rejection = (reason: Json | undefined, note: string): string => {
  if (reason === 'expired')
    return JSON.stringify({ error: { code: 'expired', message: 'Nobody approved this call in time.' } })
  const message = note === '' ? 'A person rejected this call.' : `A person rejected this call: ${note}`
  return JSON.stringify({ error: { code: 'rejected', message } })
}

/** The message that replaces what was cut from a conversation: earlier turns, or steps of the current turn. */
const summaryMessage = (summary: string, isOfTurns: boolean): ModelMessage =>
  isOfTurns
    ? { role: 'user', content: `Summary of the conversation so far:\n\n${summary}` }
    : { role: 'assistant', content: `Summary of my work so far:\n\n${summary}`, toolCalls: [] }

const cutsOf = (value: Json | undefined): readonly Cut[] =>
  Array.isArray(value)
    ? value.flatMap((each): readonly Cut[] => (Array.isArray(each) ? [[Number(each[0]), Number(each[1])]] : []))
    : []

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const callOf = (payload: JsonObject, hidden: JsonObject | undefined): ModelToolCall => ({
  callId: text(payload.action_id),
  name: text(payload.tool),
  arguments: JSON.stringify(payload.arguments ?? {}),
  ...(typeof hidden?.opaque === 'string' && { opaque: hidden.opaque }),
})
