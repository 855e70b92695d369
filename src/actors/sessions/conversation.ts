import type { ModelMessage, ModelToolCall } from '#gateway/call/provider-port.ts'
import type { Cut } from '#machines/session/session-data.ts'
import type { Json, JsonObject, LogEvent } from '#storage/ports.ts'
import { isObject } from '../runtime/schema.ts'
import { withoutCuts } from './context/compaction-plan.ts'
import { conversationState } from './schema.ts'

/** The answer that is still being put together: its text, its calls and their outputs. */
interface OpenAnswer {
  readonly text: string
  readonly calls: readonly ModelToolCall[]
  readonly outputs: Readonly<Record<string, string>>
}

/** A conversation as a checkpoint keeps it. */
export interface ConversationState {
  /** Sequence of the last event that is folded in. */
  readonly through: number
  readonly messages: readonly ModelMessage[]
  readonly open: OpenAnswer
}

const nothingOpen: OpenAnswer = { text: '', calls: [], outputs: {} }

/** A text is there once more as the bytes that were sent of it, with room to grow (turn-bytes.ts). */
const bytesACharacter = 2.5
/** Objects of a message and of its calls. */
const bytesAMessage = 250

/** A model wants an output for each call it made, also where none was given. */
const noOutput = JSON.stringify({ error: { code: 'no_output', message: 'This call was not carried out.' } })

/**
 * What was said in a session: the fold of its log, in order, from the first event or from a checkpoint
 * (specs/decisions/0001-sessions.md). Its messages never change once made, so
 * providers encode each of them once.
 */
export class Conversation {
  #through: number
  /** Another list after a compaction: what is encoded of a list is kept by its identity. */
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

  /** Sequence of the last event that is folded in. */
  get through(): number {
    return this.#through
  }

  /** What the conversation costs in memory, nearly: in bytes, of texts that are mostly ASCII. */
  get size(): number {
    return this.#length * bytesACharacter + this.#messages.length * bytesAMessage
  }

  get state(): ConversationState {
    return { through: this.#through, messages: this.#messages, open: this.#open }
  }

  /** Folds in events that follow `through`; older ones change nothing. */
  apply(events: readonly LogEvent[]): void {
    for (const event of events) {
      if (event.sequence <= this.#through) continue
      this.#take(event)
      this.#through = event.sequence
    }
  }

  /** The messages for the next model call. Every call has its output then. */
  forModel(): readonly ModelMessage[] {
    this.#close()
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
        if (this.#open.calls.length > 0) this.#close()
        this.#open = { ...this.#open, text: this.#open.text + text(payload.delta) }
        return
      case 'tool_call.started':
        // an answer's calls all stand before their first output: this one is of the next answer
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
      default:
        if (this.#open.calls.length === 0) this.#close()
    }
  }

  /** A fork of a long session: what was said before the events that were copied. */
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
    const input = text(payload.input_text)
    if (input !== '') this.#add({ role: 'user', content: input })
  }

  #resolved(payload: JsonObject, note: string): void {
    if (payload.resolution === 'rejected') this.#output(payload.action_id, rejection(payload.reason, note))
    else {
      if (payload.arguments !== undefined) this.#edit(payload.action_id, payload.arguments)
      if (payload.output !== undefined) this.#output(payload.action_id, payload.output)
    }
  }

  /** The model reads the arguments that the tool got, beside the output that they led to. */
  #edit(actionId: Json | undefined, edits: Json): void {
    const calls = this.#open.calls.map((call) =>
      call.callId === actionId ? { ...call, arguments: JSON.stringify(edits) } : call,
    )
    this.#open = { ...this.#open, calls }
  }

  #output(actionId: Json | undefined, output: Json | undefined): void {
    this.#open = { ...this.#open, outputs: { ...this.#open.outputs, [text(actionId)]: text(output) } }
  }

  /** Turns the open answer into messages that stay. */
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

/** What a model reads of a call that was not allowed. */
const rejection = (reason: Json | undefined, note: string): string => {
  if (reason === 'expired')
    return JSON.stringify({ error: { code: 'expired', message: 'Nobody approved this call in time.' } })
  const message = note === '' ? 'A person rejected this call.' : `A person rejected this call: ${note}`
  return JSON.stringify({ error: { code: 'rejected', message } })
}

/** What stands in a conversation for what was left out of it: for earlier turns, or for steps of the one in progress. */
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
