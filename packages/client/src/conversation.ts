import type { TroupeError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import type { Connection } from './follow.ts'
import {
  type Message,
  type MessagePart,
  type PendingAction,
  type Run,
  type Snapshot,
  type ToolPart,
  type Turn,
  textOf,
} from './messages.ts'

/**
 * What a session will show: its connection, and the messages that a log makes. Deltas change what is pending; `flush`
 * makes it visible, so that a burst of them changes a message once.
 */
export class Conversation {
  id: string | null = null
  connection: Connection = 'idle'
  error: TroupeError | null = null
  messages: readonly Message[] = []
  approvals: readonly PendingAction[] = []
  run: Run = { status: 'idle', turn: null }
  /** Ids of messages that were shown before the log had them, by their turn. */
  readonly #ids = new Map<number | null, string>()
  /** All text of the newest attempt of the turn, and how much of it stands before the newest tool call. */
  #text = ''
  #before = 0
  #isStale = false

  /** Begins with messages that the server has made of the log. */
  seed({ data, pending_actions }: Snapshot): void {
    const known = data.map((each) =>
      each.role === 'user' ? { ...each, id: this.#ids.get(each.turn_number) ?? each.id } : each,
    )
    this.messages = [
      ...known,
      ...this.messages.filter((each) => isUnsent(each) && !known.some(({ id }) => id === each.id)),
    ]
    this.approvals = pending_actions
    const { status = 'completed', turn_number = null, parts = [] } = data.at(-1) ?? {}
    this.#runs(status, turn_number)
    this.#text = textOf({ parts })
    this.#before = textOf({ parts: parts.slice(0, afterTools(parts)) }).length
  }

  /** Shows a message that is on its way. */
  sending(id: string, text: string): void {
    this.error = null
    this.messages = [...this.messages, message(id, { role: 'user', status: 'sending', parts: textParts(text) })]
    if (this.run.status === 'idle') this.run = { ...this.run, status: 'sending' }
  }

  /** Takes a message back that the server refused. */
  unsent(id: string): void {
    this.messages = this.messages.filter((each) => each.id !== id || !isUnsent(each))
    if (this.run.status === 'sending') this.#runs('completed')
  }

  /** Joins a message on its way with the turn that the server made of it. */
  confirmed(id: string, turn: number): void {
    this.#ids.set(turn, id)
    const theirs = this.#of(turn, 'user')
    if (theirs && theirs.id !== id)
      this.messages = this.messages.flatMap((each) => (each.id === id ? [] : each === theirs ? { ...each, id } : each))
  }

  /** Marks a decision of this client. */
  deciding(actionId: string, deciding: boolean): void {
    this.approvals = this.approvals.map((each) => (each.action_id === actionId ? { ...each, deciding } : each))
  }

  /** How a turn ended; null if it has not. */
  outcome(turn: number): Turn | null {
    const answer = this.#of(turn, 'assistant')
    const { status, usage = null, error = null } = answer ?? {}
    if (!answer || (status !== 'completed' && status !== 'failed')) return null
    return { turn, status, text: textOf(answer), usage, error }
  }

  /** How a call was resolved; null if it waits. */
  resolution(actionId: string): string | null {
    for (const { parts } of this.messages)
      for (const part of parts)
        if (isCall(part, actionId) && part.status !== 'pending')
          return part.resolution ?? (part.status === 'rejected' ? part.status : 'approved')
    return null
  }

  /** Applies an event of the log. */
  apply({ event, data }: SessionEvent): void {
    if (event === 'output_text.delta') {
      this.#text += data.delta
      this.#isStale = true
      return
    }
    this.flush()
    if (event === 'turn.started') this.#started(data)
    else if (event === 'turn.restarted') this.#text = ''
    else if (event === 'tool_call.started') {
      this.#before = this.#text.length
      this.#answer(({ parts }) => ({ parts: [...parts, { type: 'tool', status: 'running', ...data }] }))
    } else if (event === 'tool_call.progress') this.#tool(data.action_id, { progress: data })
    else if (event === 'tool_call.completed') this.#tool(data.action_id, { ...data, status: 'completed' })
    else if (event === 'turn.paused') {
      this.approvals = [...this.#others(data), { ...data, turn_number: this.run.turn ?? 0 }]
      this.#runs('paused')
      this.#tool(data.action_id, { status: 'pending' })
    } else if (event === 'turn.resumed') this.#resumed(data)
    else if (event === 'turn.completed') {
      const { output, usage, annotations = [] } = data
      const citations = annotations.map((each) => ({ ...each, type: 'citation' as const }))
      this.#end(output, { status: 'completed', usage }, citations)
    } else if (event === 'turn.failed') {
      const { output, usage, error } = data
      this.#end(output.text, { status: 'failed', usage, error })
    }
  }

  /** Makes the text so far visible. A new attempt leaves the text of the one before until it differs or says more. */
  flush(): void {
    if (!this.#isStale) return
    this.#isStale = false
    const text = this.#text.slice(this.#before)
    this.#answer(({ parts }) => {
      const shown = textOf({ parts: parts.slice(afterTools(parts)) })
      return shown.startsWith(text) ? {} : { parts: this.#withText(parts, this.#text) }
    })
  }

  #started({ turn_number, input_text }: DataOf<'turn.started'>): void {
    this.#text = ''
    this.#before = 0
    const sent = this.messages.find((each) => isUnsent(each) && textOf(each) === input_text)
    const id = this.#ids.get(turn_number) ?? sent?.id ?? `msg_${turn_number}_user`
    const others = this.messages.filter((each) => each.id !== id)
    const user = message(id, { role: 'user', turn_number, status: 'completed', parts: textParts(input_text) })
    this.messages = [
      ...others.filter((each) => !isUnsent(each)),
      ...(input_text === '' ? [] : [user]),
      message(`msg_${turn_number}_assistant`, { turn_number }),
      ...others.filter(isUnsent),
    ]
    this.#runs('in_progress', turn_number)
  }

  #resumed(data: DataOf<'turn.resumed'>): void {
    const { action_id, resolution, output } = data
    this.approvals = this.#others(data)
    const status = resolution === 'rejected' ? resolution : 'running'
    this.#tool(action_id, { resolution, ...(output === undefined ? { status } : { status: 'completed', output }) })
    if (!this.approvals.length) this.#runs('in_progress')
  }

  /** The calls that wait beside one. */
  #others({ action_id }: { readonly action_id: string }): readonly PendingAction[] {
    return this.approvals.filter((each) => each.action_id !== action_id)
  }

  #end(text: string, change: Partial<Message>, more: readonly MessagePart[] = []): void {
    this.#answer(({ parts }) => ({ parts: [...this.#withText(parts, text), ...more], ...change }))
    this.approvals = []
    this.#runs('completed')
  }

  /** Says what the session does now that the newest turn has this status. */
  #runs(status: Message['status'], turn = this.run.turn): void {
    const isOpen = status === 'in_progress' || status === 'paused'
    this.run = { status: isOpen ? status : 'idle', turn }
    if (isOpen) this.#answer(() => ({ status }))
  }

  #of(turn: number, role: Message['role']): Message | undefined {
    return this.messages.find((each) => each.turn_number === turn && each.role === role)
  }

  #tool(actionId: string, change: Partial<ToolPart>): void {
    this.#answer(({ parts }) => ({
      parts: parts.map((part) => (isCall(part, actionId) ? { ...part, ...change } : part)),
    }))
  }

  /** Replaces what stands after the newest tool call by the turn's whole text, less the part before that call. */
  #withText(parts: Message['parts'], text: string): Message['parts'] {
    return [...parts.slice(0, afterTools(parts)), ...textParts(text.slice(this.#before))]
  }

  /** Changes the newest message of the model; all others stay the objects that they are. */
  #answer(change: (answer: Message) => Partial<Message>): void {
    const at = this.messages.findLastIndex(({ role }) => role === 'assistant')
    const answer = this.messages[at]
    if (answer) this.messages = this.messages.with(at, { ...answer, ...change(answer) })
  }
}

type DataOf<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>['data']

/** A message of the model that has just begun, unless `fields` say otherwise; without a turn unless they name one. */
const message = (id: string, fields: Partial<Message>): Message => ({
  id,
  role: 'assistant',
  turn_number: null,
  status: 'in_progress',
  parts: [],
  ...fields,
})

const isUnsent = ({ turn_number }: Message): boolean => turn_number === null

const isCall = (part: MessagePart, actionId: string): part is ToolPart => 'tool' in part && part.action_id === actionId

const textParts = (text: string): readonly MessagePart[] => (text === '' ? [] : [{ type: 'text', text }])

const afterTools = (parts: readonly MessagePart[]): number => parts.findLastIndex(({ type }) => type === 'tool') + 1
