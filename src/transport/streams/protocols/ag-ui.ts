import type { AgUiProtocol } from '#actors/call/call.ts'
import type { EventReader } from '#actors/call/speaker.ts'
import { agUiContent } from '#actors/sessions/protocols/ag-ui-messages.ts'
import { shownPayload } from '#records/shown-event.ts'
import { isObject } from '#runtime/index.ts'
import type { StreamEndReason } from '#specs/events/events.ts'
import type { Json, JsonObject, LogEvent } from '#storage/index.ts'
import { interruptOf } from './ag-ui-interrupt.ts'
import { AgUiShown } from './ag-ui-shown.ts'
import { listOf, text } from './shown-call.ts'
import { dataFrame, endedWords, type Translator } from './translator.ts'

type Event = { readonly type: string; readonly [field: string]: Json }

/**
 * A session's events as those of an AG-UI run. An answer of the model with its calls is one message; each output of a
 * tool is another, and what the model reasons before it a message of its own.
 *
 * AG-UI has no event that takes text back, so after a restart a snapshot replaces all messages of the page.
 */
export class AgUi implements Translator {
  readonly #protocol: AgUiProtocol
  readonly #reader: EventReader
  readonly #shown: AgUiShown
  readonly #answered: Set<string>
  /** The calls that the turn waits for, by their ids. */
  readonly #waiting = new Map<string, JsonObject>()
  #isStarted = false
  /** The message of the model call in progress. */
  #messageId: string | null = null
  #isTextOpen = false
  /** The message of what the model reasons in this call. */
  #reasoningId: string | null = null
  #isReasoning = false
  #model = ''
  #last: JsonObject = {}
  #owed: readonly string[] = []
  #isCancelled = false
  #isFailed = false

  constructor(protocol: AgUiProtocol, reader: EventReader) {
    this.#protocol = protocol
    this.#reader = reader
    this.#answered = new Set(protocol.answered)
    this.#shown = new AgUiShown(protocol.earlier)
  }

  frames(events: readonly LogEvent[]): string {
    let frames = ''
    for (const event of events) for (const made of this.#eventsOf(event)) frames += dataFrame(made)
    return frames
  }

  end(reason: 'done' | StreamEndReason): string {
    if (this.#isFailed) return ''
    const begun = this.#isStarted ? [] : this.#start()
    // the text goes on if the run is sent again, so it does not end here
    const error = (code: StreamEndReason) => ({ type: 'RUN_ERROR', code, message: endedWords[code] })
    const last = reason === 'done' ? this.#finish() : [error(reason)]
    return [...begun, ...last].map(dataFrame).join('')
  }

  #eventsOf(event: LogEvent): readonly Event[] {
    if (event.turn_number === undefined || this.#isFailed) return []
    const begun = this.#isStarted ? [] : this.#start()
    return [...begun, ...this.#of(event, shownPayload(event, this.#reader))]
  }

  #of(event: LogEvent, payload: JsonObject): readonly Event[] {
    const id = text(payload.action_id)
    switch (event.event_type) {
      case 'turn.started':
        return this.#beginTurn(event.turn_number ?? 0, payload)
      case 'output_text.delta':
        // text of answers before, which a restart repeats for readers
        return event.hidden?.kept === true ? [] : this.#delta(event, text(payload.delta))
      case 'reasoning.delta':
        return this.#reason(event, text(payload.delta))
      case 'turn.restarted':
        return this.#restart()
      case 'tool_call.started':
        return this.#call(event, id, payload)
      case 'tool_call.progress':
        return [{ type: 'CUSTOM', name: 'tool_call.progress', value: payload }]
      case 'tool_call.completed':
        return this.#result(id, text(payload.output))
      case 'turn.paused':
        this.#waiting.set(id, payload)
        return []
      case 'turn.resumed':
        return this.#resume(id, payload)
      case 'turn.completed':
        return this.#complete(payload)
      case 'turn.failed':
        return this.#failTurn(payload)
      default:
        return []
    }
  }

  #start(): readonly Event[] {
    this.#isStarted = true
    const { threadId, runId, sessionId, state } = this.#protocol
    const started = { type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' }
    if (state === null || (isObject(state) && Object.keys(state).length === 0))
      return [started, { type: 'STATE_SNAPSHOT', snapshot: { session_id: sessionId } }]
    if (!isObject(state) || state.session_id === sessionId) return [started]
    return [started, { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/session_id', value: sessionId }] }]
  }

  #beginTurn(turn: number, { model, input_text, input: parts, retry_of }: JsonObject): readonly Event[] {
    this.#model = text(model)
    if (!this.#protocol.showsAll) return []
    const content = Array.isArray(parts) ? agUiContent(parts.filter(isObject)) : text(input_text)
    if (content.length > 0 && retry_of === undefined) this.#shown.add({ id: `msg_${turn}_user`, role: 'user', content })
    return this.#snapshot()
  }

  #snapshot(): readonly Event[] {
    const { messages } = this.#shown
    if (messages === null) return this.#fail('restarted', 'The answer begins anew: run again to follow it.')
    return [{ type: 'MESSAGES_SNAPSHOT', messages }]
  }

  /** The message of the model call in progress. */
  #message({ turn_number: turn = 0, sequence }: LogEvent): string {
    if (this.#messageId !== null) return this.#messageId
    const id = `msg_${turn}_${sequence}`
    this.#shown.add({ id, role: 'assistant', content: '' })
    this.#messageId = id
    return id
  }

  #delta(event: LogEvent, delta: string): readonly Event[] {
    if (delta === '') return []
    const messageId = this.#message(event)
    this.#shown.append(messageId, delta)
    const reasoned = this.#endReasoning()
    const content = { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
    if (this.#isTextOpen) return [...reasoned, content]
    this.#isTextOpen = true
    return [...reasoned, { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }, content]
  }

  #reason({ turn_number: turn = 0, sequence }: LogEvent, delta: string): readonly Event[] {
    if (delta === '') return []
    const { showsAll, runId } = this.#protocol
    const messageId = this.#reasoningId ?? `msg_${turn}_${sequence}${showsAll ? `_${runId}` : ''}`
    const anew = this.#reasoningId === null ? this.#addReasoning(messageId) : []
    this.#shown.append(messageId, delta)
    const content = { type: 'REASONING_MESSAGE_CONTENT', messageId, delta }
    if (this.#isReasoning) return [content]
    this.#isReasoning = true
    const start = { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' }
    return [...anew, { type: 'REASONING_START', messageId }, start, content]
  }

  /**
   * A page keeps all reasoning that it has when a snapshot has none, and the position of an id that it has. So the first that
   * is shown again replaces it, under another id.
   */
  #addReasoning(id: string): readonly Event[] {
    const isFirst = !this.#shown.hasReasoning
    this.#reasoningId = id
    this.#shown.add({ id, role: 'reasoning', content: '' })
    return this.#protocol.showsAll && isFirst ? this.#snapshot() : []
  }

  #endReasoning(): readonly Event[] {
    if (!this.#isReasoning) return []
    this.#isReasoning = false
    return ['REASONING_MESSAGE_END', 'REASONING_END'].map((type) => ({ type, messageId: this.#reasoningId }))
  }

  /** Ends what the model reasons and writes in this call. */
  #endAnswer(): readonly Event[] {
    const reasoned = this.#endReasoning()
    if (!this.#isTextOpen || this.#messageId === null) return reasoned
    this.#isTextOpen = false
    return [...reasoned, { type: 'TEXT_MESSAGE_END', messageId: this.#messageId }]
  }

  /**
   * Takes back what a model call that is made again reasoned and wrote. Its reasoning stays as an empty message, which goes
   * on: a snapshot without any would leave it to the page.
   */
  #restart(): readonly Event[] {
    if (this.#isTextOpen) this.#shown.drop(this.#messageId)
    const ended = this.#endAnswer()
    if (ended.length === 0) return []
    this.#messageId = null
    this.#shown.empty(this.#reasoningId)
    return [...ended, ...this.#snapshot()]
  }

  #call(event: LogEvent, toolCallId: string, payload: JsonObject): readonly Event[] {
    const parentMessageId = this.#message(event)
    const [name, input] = [text(payload.tool), JSON.stringify(payload.arguments ?? {})]
    this.#shown.call(parentMessageId, { id: toolCallId, type: 'function', function: { name, arguments: input } })
    const ended = this.#endAnswer()
    this.#reasoningId = null
    return [
      ...ended,
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: input },
      { type: 'TOOL_CALL_END', toolCallId },
    ]
  }

  #result(toolCallId: string, content: string): readonly Event[] {
    this.#messageId = null
    if (this.#answered.has(toolCallId)) return []
    this.#answered.add(toolCallId)
    const result = { toolCallId, content, role: 'tool' }
    const id = `${toolCallId}_result`
    this.#shown.add({ id, ...result })
    return [{ type: 'TOOL_CALL_RESULT', messageId: id, ...result }]
  }

  #resume(id: string, { resolution, reason, output }: JsonObject): readonly Event[] {
    this.#waiting.delete(id)
    if (resolution === 'rejected') return this.#result(id, rejection(text(reason)))
    return output === undefined ? [] : this.#result(id, text(output))
  }

  #complete({ annotations, tool_calls: owed, turn_number = null, usage }: JsonObject): readonly Event[] {
    this.#owed = listOf(owed).map(({ action_id }) => text(action_id))
    const tokens = isObject(usage) ? usage : {}
    this.#last = {
      result: { turn_number, cost_usd: tokens.cost_usd ?? null },
      usage: [
        {
          ...(this.#model !== '' && { model: this.#model }),
          ...numberOf('inputTokens', tokens.input_tokens),
          ...numberOf('outputTokens', tokens.output_tokens),
          ...numberOf('totalTokens', tokens.total_tokens),
        },
      ],
    }
    const citations = listOf(annotations)
    const cited = citations.length > 0 ? [{ type: 'CUSTOM', name: 'citations', value: citations }] : []
    return [...this.#endAnswer(), ...cited]
  }

  #failTurn({ error }: JsonObject): readonly Event[] {
    const { code, message } = isObject(error) ? error : {}
    this.#waiting.clear()
    this.#isCancelled = code === 'cancelled'
    return this.#isCancelled ? this.#endAnswer() : this.#fail(text(code), text(message))
  }

  #fail(code: string, message: string): readonly Event[] {
    this.#isFailed = true
    return [...this.#endAnswer(), { type: 'RUN_ERROR', code, message }]
  }

  #finish(): readonly Event[] {
    const { threadId, runId } = this.#protocol
    return [...this.#endAnswer(), { type: 'RUN_FINISHED', threadId, runId, outcome: this.#outcome(), ...this.#last }]
  }

  #outcome(): JsonObject {
    if (this.#isCancelled) return { type: 'cancelled' }
    const interrupts = [...this.#waiting].filter(([, { run_by }]) => run_by !== 'caller').map(this.#interrupt)
    if (interrupts.length > 0) return { type: 'interrupt', interrupts }
    const pendingToolCallIds = [...this.#owed, ...this.#waiting.keys()]
    return { type: 'success', ...(pendingToolCallIds.length > 0 && { pendingToolCallIds }) }
  }

  readonly #interrupt = ([id, payload]: readonly [string, JsonObject]): JsonObject =>
    interruptOf(id, payload, this.#protocol.approves)
}

const rejection = (reason: string): string =>
  reason === '' || reason === 'rejected' ? 'The call was rejected.' : `The call was rejected: ${reason}`

const numberOf = (name: string, value: Json | undefined): JsonObject =>
  typeof value === 'number' ? { [name]: value } : {}
