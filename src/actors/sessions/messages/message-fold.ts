import type { EventReader } from '#actors/call/speaker.ts'
import { truncated } from '#records/sanitize.ts'
import { shownPayload } from '#records/shown-event.ts'
import { isObject } from '#runtime/index.ts'
import type { ResultOf } from '#specs/index.ts'
import type { Json, JsonObject, LogEvent } from '#storage/index.ts'
import { inputPart, messageError, messageUsage, pendingAction } from '../schema.ts'

/** A page of a session's messages. */
export type MessagePage = ResultOf<'sessions.messages'>
type Message = MessagePage['data'][number]
type Part = Message['parts'][number]
type ToolPart = Extract<Part, { type: 'tool' }>
type Mutable<T> = { -readonly [K in keyof T]: T[K] }
/** A message whose turn may go on. */
type OpenMessage = Mutable<Omit<Message, 'parts'>> & { parts: Mutable<Part>[] }

interface Turn {
  readonly user: OpenMessage | null
  readonly assistant: OpenMessage
  size: number
}

/** Size of a message without its texts, in UTF-16 units. */
const messageSize = 200

/**
 * The messages of a session's latest turns: its log folded in order, for one kind of reader. When they exceed the size,
 * the earliest turns are dropped.
 */
export class MessageFold {
  readonly #reader: EventReader
  readonly #maxSize: number
  readonly #turns: Turn[] = []
  readonly #tools = new Map<string, { readonly part: Mutable<ToolPart>; readonly turn: Turn }>()
  readonly #pending = new Map<string, MessagePage['pending_actions'][number]>()
  #size = 0
  #last = 0

  /** @param maxSize in UTF-16 units. */
  constructor(reader: EventReader, maxSize: number) {
    this.#reader = reader
    this.#maxSize = maxSize
  }

  /** Number of the earliest turn that is kept; undefined before the first. */
  get firstTurn(): number | undefined {
    return this.#turns[0]?.assistant.turn_number
  }

  page(hasMore: boolean): MessagePage {
    return {
      data: this.#turns.flatMap(({ user, assistant }) => (user === null ? [assistant] : [user, assistant])),
      pending_actions: [...this.#pending.values()],
      last_event_id: this.#last,
      has_more: hasMore,
    }
  }

  take(event: LogEvent): void {
    this.#last = event.sequence
    const payload = shownPayload(event, this.#reader)
    if (event.event_type === 'turn.started') this.#begin(event.turn_number ?? 0, payload)
    const turn = this.#turns.at(-1)
    if (turn === undefined) return
    switch (event.event_type) {
      case 'output_text.delta':
        // text of answers before, which a restart repeats for readers
        if (event.hidden?.kept !== true) this.#addText(turn, text(payload.delta))
        return
      case 'reasoning.delta':
        this.#addReasoning(turn, text(payload.delta))
        return
      case 'turn.restarted':
        this.#voidText(turn)
        return
      case 'tool_call.started':
        this.#addTool(turn, payload)
        return
      case 'turn.paused':
        this.#pause(turn, payload)
        return
      case 'turn.resumed':
        this.#resume(turn, payload)
        return
      case 'tool_call.completed':
        this.#complete(payload)
        return
      case 'turn.completed':
      case 'turn.failed':
        this.#end(turn, payload)
    }
  }

  /** Takes the outputs that the caller sends with a turn, for calls of turns before. */
  takeResults({ tool_results: results }: JsonObject): void {
    for (const result of Array.isArray(results) ? results : []) if (isObject(result)) this.#complete(result)
  }

  #begin(turnNumber: number, payload: JsonObject): void {
    this.takeResults(payload)
    const input = text(payload.input_text)
    const parts = Array.isArray(payload.input) ? payload.input.filter(isObject).map(inputPart) : []
    if (parts.length === 0 && input !== '') parts.push({ type: 'text', text: input })
    const common = { turn_number: turnNumber }
    const retry = typeof payload.retry_of === 'number' ? { retry_of: payload.retry_of } : {}
    const user: OpenMessage | null =
      parts.length === 0 || payload.retry_of !== undefined
        ? null
        : {
            ...{ id: `msg_${turnNumber}_user`, role: 'user', ...common, status: 'completed' },
            parts,
          }
    const assistant: OpenMessage = {
      ...{ id: `msg_${turnNumber}_assistant`, role: 'assistant', ...common, status: 'in_progress' },
      ...retry,
      parts: [],
    }
    const turn = { user, assistant, size: 0 }
    this.#turns.push(turn)
    this.#grow(turn, input.length + messageSize * parts.length + messageSize)
  }

  #addText(turn: Turn, delta: string): void {
    const last = turn.assistant.parts.at(-1)
    if (last?.type === 'text') last.text += delta
    else if (delta !== '') turn.assistant.parts.push({ type: 'text', text: delta })
    this.#grow(turn, delta.length)
  }

  /** Adds to the reasoning of a model call, which precedes its text. */
  #addReasoning(turn: Turn, delta: string): void {
    const { parts } = turn.assistant
    const at = parts.findLastIndex(({ type }) => type !== 'text')
    const last = parts[at]
    if (last?.type === 'reasoning') last.text += delta
    else parts.splice(at + 1, 0, { type: 'reasoning', text: delta })
    this.#grow(turn, delta.length)
  }

  /** Drops the text and the reasoning of a model call that is made again. */
  #voidText({ assistant: { parts } }: Turn): void {
    parts.splice(parts.findLastIndex(({ type }) => type === 'tool') + 1)
  }

  #addTool(turn: Turn, payload: JsonObject): void {
    const part: Mutable<ToolPart> = {
      ...{ type: 'tool', action_id: text(payload.action_id), tool: text(payload.tool) },
      arguments: payload.arguments ?? {},
      ...marksOf(payload),
      status: 'running',
    }
    turn.assistant.parts.push(part)
    this.#tools.set(part.action_id, { part, turn })
    this.#grow(turn, JSON.stringify(part.arguments).length + messageSize)
  }

  #pause(turn: Turn, payload: JsonObject): void {
    const action = pendingAction({ turn_number: turn.assistant.turn_number, ...payload })
    this.#pending.set(action.action_id, action)
    turn.assistant.status = 'paused'
    this.#mark(action.action_id, { status: 'pending' })
  }

  #resume(turn: Turn, payload: JsonObject): void {
    const id = text(payload.action_id)
    this.#pending.delete(id)
    if (this.#pending.size === 0) turn.assistant.status = 'in_progress'
    if (payload.resolution === 'rejected') this.#mark(id, { status: 'rejected', reason: text(payload.reason) })
    else this.#mark(id, { status: 'running' })
    if (payload.arguments !== undefined) this.#mark(id, { arguments: payload.arguments })
    if (payload.output !== undefined) this.#complete(payload)
  }

  #complete({ action_id, output }: JsonObject): void {
    const shown = truncated(text(output))
    const found = this.#mark(text(action_id), { status: 'completed', output: shown })
    if (found !== undefined) this.#grow(found, shown.length)
  }

  #mark(id: string, change: Partial<ToolPart>): Turn | undefined {
    const found = this.#tools.get(id)
    if (found !== undefined) Object.assign(found.part, change)
    return found?.turn
  }

  #end({ assistant }: Turn, payload: JsonObject): void {
    this.#pending.clear()
    const owed = new Set(listOf(payload.tool_calls).map(({ action_id }) => action_id))
    for (const part of assistant.parts)
      if (part.type === 'tool' && (part.status === 'running' || part.status === 'pending'))
        part.status = owed.has(part.action_id) ? 'awaiting_output' : 'cancelled'
    for (const { start_index, end_index, url, title } of listOf(payload.annotations)) {
      const place = { start_index: Number(start_index), end_index: Number(end_index) }
      assistant.parts.push({ type: 'citation', ...place, url: text(url), title: text(title) })
    }
    assistant.status = payload.error === undefined ? 'completed' : 'failed'
    assistant.usage = messageUsage(payload.usage)
    if (payload.error !== undefined) assistant.error = messageError(payload.error)
  }

  #grow(turn: Turn, size: number): void {
    turn.size += size
    this.#size += size
    while (this.#size > this.#maxSize && this.#turns.length > 1) this.#drop()
  }

  #drop(): void {
    const turn = this.#turns.shift()
    if (turn === undefined) return
    this.#size -= turn.size
    for (const part of turn.assistant.parts) if (part.type === 'tool') this.#tools.delete(part.action_id)
  }
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const listOf = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const marksOf = ({ run_by, declared_by }: JsonObject): Pick<ToolPart, 'run_by' | 'declared_by'> => ({
  ...(run_by === 'caller' && { run_by }),
  ...(declared_by === 'page' && { declared_by }),
})
