import type { UiMessageProtocol } from '#actors/call/call.ts'
import type { EventReader } from '#actors/call/speaker.ts'
import { shownPayload } from '#records/shown-event.ts'
import { isObject } from '#runtime/index.ts'
import type { StreamEndReason } from '#specs/events/events.ts'
import type { Json, JsonObject, LogEvent } from '#storage/index.ts'
import { decidesHere, listOf, outputValue, text } from './shown-call.ts'
import { dataFrame, endedWords, type Translator } from './translator.ts'

type Part = { readonly type: string; readonly [field: string]: Json }

/**
 * A session's events as the UI message stream of Vercel's AI SDK. A step is a model call with the outputs of its tools.
 *
 * The client sends a message again whenever all calls of its last step are answered. So what follows the answers is
 * always in a further step, if need be an empty one; a turn that still waits for other calls of the step gets none.
 * Text of a model call that a crash made void is taken back by `reset-step`.
 */
export class UiMessages implements Translator {
  readonly #reader: EventReader
  readonly #approves: UiMessageProtocol['approves']
  readonly #messageId: string | null
  /** The calls that the client has. */
  readonly #calls: Set<string>
  readonly #requested = new Set<string>()
  /** The calls of the current step. */
  readonly #ofStep = new Set<string>()
  #isStarted = false
  #inStep = false
  /** Whether the outputs of the current step have begun: what follows is of the next model call. */
  #hasOutputs = false
  /** Whether there is a step after the last calls that the client has answered. */
  #isFurther = false
  /** Whether the turn waits. */
  #waits = false
  /** The text or the reasoning that has begun. */
  #open: { readonly type: 'text' | 'reasoning'; readonly id: string } | null = null
  #last: JsonObject = { finishReason: 'other' }
  #failed = false

  constructor({ messageId, calls, approves }: UiMessageProtocol, reader: EventReader) {
    this.#reader = reader
    this.#approves = approves
    this.#messageId = messageId
    this.#calls = new Set(calls)
  }

  frames(events: readonly LogEvent[]): string {
    let frames = ''
    for (const event of events) for (const part of this.#partsOf(event)) frames += dataFrame(part)
    return frames
  }

  end(reason: 'done' | StreamEndReason): string {
    const parts = reason === 'done' ? this.#finish() : [{ type: 'error', errorText: endedWords[reason], code: reason }]
    return `${parts.map(dataFrame).join('')}data: [DONE]\n\n`
  }

  #finish(): readonly Part[] {
    if (this.#failed) return []
    const started = this.#isStarted ? [] : this.#start(null)
    const further = this.#waits || this.#isFurther ? [] : this.#beginStep()
    return [...started, ...further, ...this.#endStep(), { type: 'finish', ...this.#last }]
  }

  #partsOf(event: LogEvent): readonly Part[] {
    const { turn_number: turn } = event
    if (turn === undefined) return []
    const started = this.#isStarted ? [] : this.#start(turn)
    return [...started, ...this.#of(event, shownPayload(event, this.#reader))]
  }

  #of(event: LogEvent, payload: JsonObject): readonly Part[] {
    const id = text(payload.action_id)
    switch (event.event_type) {
      case 'turn.started':
        // outputs of calls of the turn before, in the same message
        return listOf(payload.tool_results).flatMap((result) => this.#output(result))
      case 'output_text.delta':
        // text of answers before, which a restart repeats for readers
        return event.hidden?.kept === true ? [] : this.#delta('text', event.sequence, text(payload.delta))
      case 'reasoning.delta':
        return this.#delta('reasoning', event.sequence, text(payload.delta))
      case 'turn.restarted':
        return this.#reset()
      case 'tool_call.started':
        return this.#call(id, payload)
      case 'tool_call.progress':
        return [{ type: 'data-progress', id, data: payload, transient: true }]
      case 'tool_call.completed':
        return this.#output(payload)
      case 'turn.paused':
        return this.#pause(id, payload)
      case 'turn.resumed':
        return this.#resume(id, payload)
      case 'turn.completed':
        return this.#complete(payload)
      case 'turn.failed':
        return this.#fail(payload)
      default:
        return []
    }
  }

  #start(turn: number | null): readonly Part[] {
    this.#isStarted = true
    const messageId = this.#messageId ?? (turn === null ? null : `msg_${turn}_assistant`)
    const start = { type: 'start', ...(messageId !== null && { messageId }) }
    return this.#calls.size === 0 ? [start, ...this.#beginStep()] : [start]
  }

  #beginStep(): readonly Part[] {
    if (this.#inStep && !this.#hasOutputs) return []
    const ended = this.#endStep()
    this.#inStep = true
    this.#isFurther = true
    this.#hasOutputs = false
    this.#ofStep.clear()
    return [...ended, { type: 'start-step' }]
  }

  #endStep(): readonly Part[] {
    const ended = [...this.#endText(), ...(this.#inStep ? [{ type: 'finish-step' }] : [])]
    this.#inStep = false
    return ended
  }

  #endText(): readonly Part[] {
    const open = this.#open
    this.#open = null
    return open === null ? [] : [{ type: `${open.type}-end`, id: open.id }]
  }

  #delta(type: 'text' | 'reasoning', sequence: number, delta: string): readonly Part[] {
    if (delta === '') return []
    const step = this.#beginStep()
    if (this.#open?.type === type) return [...step, { type: `${type}-delta`, id: this.#open.id, delta }]
    const ended = this.#endText()
    const id = `${type === 'text' ? 'txt' : 'rsn'}_${sequence}`
    this.#open = { type, id }
    return [...step, ...ended, { type: `${type}-start`, id }, { type: `${type}-delta`, id, delta }]
  }

  /** Takes back the text of a model call that is made again. */
  #reset(): readonly Part[] {
    if (this.#open === null) return []
    this.#open = null
    return [{ type: 'reset-step' }]
  }

  #call(id: string, payload: JsonObject): readonly Part[] {
    const step = this.#beginStep()
    this.#calls.add(id)
    this.#ofStep.add(id)
    const input = payload.arguments ?? {}
    const call = { type: 'tool-input-available', toolCallId: id, toolName: text(payload.tool), input }
    return [...step, ...this.#endText(), call]
  }

  #output({ action_id, output }: JsonObject): readonly Part[] {
    const toolCallId = text(action_id)
    if (!this.#calls.has(toolCallId)) return []
    this.#answered(toolCallId)
    return [{ type: 'tool-output-available', toolCallId, output: outputValue(output) }]
  }

  #answered(id: string): void {
    if (!this.#ofStep.has(id)) return
    this.#hasOutputs = true
    this.#isFurther = false
  }

  #pause(id: string, payload: JsonObject): readonly Part[] {
    this.#last = { finishReason: 'tool-calls' }
    this.#waits = true
    const { connection, input, tool = '' } = payload
    const wait = { action_id: id, tool }
    if (connection !== undefined) return [{ type: 'data-connection', id, data: { ...wait, connection } }]
    if (input !== undefined) return [{ type: 'data-input', id, data: { ...wait, input } }]
    const isOpen = payload.run_by !== 'caller' && decidesHere(payload, this.#approves)
    if (!isOpen || !this.#calls.has(id)) return []
    this.#requested.add(id)
    return [{ type: 'tool-approval-request', approvalId: id, toolCallId: id }]
  }

  #resume(id: string, payload: JsonObject): readonly Part[] {
    this.#last = { finishReason: 'other' }
    if (!this.#calls.has(id)) return []
    this.#answered(id)
    const approved = payload.resolution !== 'rejected'
    const answer = this.#requested.delete(id) ? [{ type: 'tool-approval-response', approvalId: id, approved }] : []
    if (!approved) return [...answer, { type: 'tool-output-denied', toolCallId: id }]
    return payload.output === undefined ? answer : [...answer, ...this.#output(payload)]
  }

  #complete({ annotations, tool_calls: owed, turn_number = null, usage = null }: JsonObject): readonly Part[] {
    this.#waits = listOf(owed).length > 0
    const finishReason = this.#waits ? 'tool-calls' : 'stop'
    this.#last = { finishReason, messageMetadata: { turn_number, usage } }
    const sources = listOf(annotations).map(({ url, title }, at) => ({
      ...{ type: 'source-url', sourceId: `source_${at + 1}`, url: text(url), title: text(title) },
    }))
    return [...this.#endText(), ...sources]
  }

  #fail({ error }: JsonObject): readonly Part[] {
    this.#waits = false
    const { code, message } = isObject(error) ? error : {}
    if (code === 'cancelled') {
      this.#last = { finishReason: 'interrupted' }
      return [{ type: 'abort', reason: text(message) }]
    }
    this.#failed = true
    return [{ type: 'error', errorText: text(message) }]
  }
}
