import type { TroupeError } from './errors.ts'
import type { SessionEvent, UrlCitation } from './events.ts'
import type { Connection } from './follow.ts'
import {
  type Message,
  type MessagePart,
  type PendingAction,
  partsOf,
  type Run,
  type SnapshotEvent,
  type ToolPart,
  type Turn,
  type TurnInput,
  textOf,
} from './messages.ts'
import { asFields } from './schema.ts'

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
  /** Ids of messages that were shown before the log had them, by those of the log. */
  readonly #ids = new Map<string, string>()
  /** All text of the newest attempt of the turn, and how much of it stands before the newest tool call. */
  #text = ''
  #before = 0
  #isStale = false

  /** Begins with messages that the server has made of the log. */
  #seed({ data, pending_actions }: SnapshotEvent['data']): void {
    const known = data.map((each) => ({ ...each, id: this.#ids.get(each.id) ?? each.id }))
    this.messages = [
      ...known,
      ...this.messages.filter((each) => isUnsent(each) && !known.some(({ id }) => id === each.id)),
    ]
    this.approvals = pending_actions
    const { status, turn_number, parts } = data.at(-1) ?? message('', { status: 'completed' })
    this.#runs(status, turn_number)
    this.#text = textOf({ parts })
    this.#before = textOf({ parts: parts.slice(0, afterCalls(parts)) }).length
  }

  /** Shows a message that is on its way. */
  sending(id: string, input: TurnInput): void {
    this.error = null
    this.messages = [...this.messages, message(id, { role: 'user', status: 'sending', parts: partsOf(input) })]
    if (this.run.status === 'idle') this.#runs('completed')
  }

  /** Takes a message back that the server refused. */
  unsent(id: string): void {
    this.messages = this.messages.filter((each) => each.id !== id || !isUnsent(each))
    if (this.run.status === 'sending') this.#runs('completed')
  }

  /** Joins a message on its way with the turn that the server made of it. */
  confirmed(id: string, turn: number): void {
    this.#ids.set(inputOf(turn), id)
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
    if (!answer?.usage) return null
    const { usage, error = null } = answer
    return { turn, status: error ? 'failed' : 'completed', text: textOf(answer), usage, error }
  }

  /** How a call was resolved; null if it waits. */
  resolution(actionId: string): string | null {
    const part = this.messages.flatMap(({ parts }) => parts).find((each) => isCall(each, actionId))
    if (!part || part.status === 'pending') return null
    return part.resolution ?? (part.status === 'rejected' ? part.status : 'approved')
  }

  /** Applies an event of the log. */
  apply({ event, data }: SessionEvent | SnapshotEvent): void {
    if (event === 'output_text.delta') {
      this.#text += data.delta
      this.#isStale = true
      return
    }
    this.flush()
    if (event === 'session.snapshot') this.#seed(data)
    else if (event === 'turn.started') this.#started(data)
    else if (event === 'reasoning.delta') this.#reasoned(data.delta)
    else if (event === 'turn.restarted') {
      this.#text = ''
      this.#reasoned('')
    } else if (event === 'tool_call.started') {
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
      this.#end(output, { status: 'completed', usage }, annotations)
    } else if (event === 'turn.failed') {
      const { output, ...how } = data
      this.#end(output.text, { status: 'failed', ...how })
    }
  }

  /** Makes the text so far visible. A new attempt leaves the text of the one before until it differs or says more. */
  flush(): void {
    if (!this.#isStale) return
    this.#isStale = false
    const text = this.#text.slice(this.#before)
    this.#answer(({ parts }) => {
      const shown = textOf({ parts: parts.slice(afterCalls(parts)) })
      return shown.startsWith(text) ? {} : { parts: this.#withText(parts, this.#text) }
    })
  }

  /** Adds to the reasoning of the model call in progress, which precedes its text; '' drops it. */
  #reasoned(delta: string): void {
    this.#answer(({ parts }) => {
      const at = afterCalls(parts)
      const last = parts[at - 1]
      const before = last?.type === 'reasoning' ? last.text : ''
      const more: readonly MessagePart[] = delta ? [{ type: 'reasoning', text: before + delta }] : []
      return { parts: [...parts.slice(0, before ? at - 1 : at), ...more, ...parts.slice(at)] }
    })
  }

  #started({ turn_number, input_text, input: given, retry_of }: DataOf<'turn.started'>): void {
    this.#text = ''
    this.#before = 0
    const parts = partsOf(given ?? input_text)
    const text = textOf({ parts })
    const sent = this.messages.find((each) => isUnsent(each) && textOf(each) === text)
    const id = this.#ids.get(inputOf(turn_number)) ?? sent?.id ?? inputOf(turn_number)
    const others = this.messages.filter((each) => each.id !== id)
    const user = message(id, { role: 'user', turn_number, status: 'completed', parts })
    this.messages = [
      ...others.filter((each) => !isUnsent(each)),
      ...(parts[0] && !retry_of ? [user] : []),
      message(`msg_${turn_number}_assistant`, { turn_number }),
      ...others.filter(isUnsent),
    ]
    this.#runs('in_progress', turn_number)
  }

  #resumed(data: DataOf<'turn.resumed'>): void {
    const { action_id, resolution, output } = data
    this.approvals = this.#others(data)
    const status = resolution === 'rejected' ? resolution : 'running'
    this.#tool(action_id, { resolution, status: output === undefined ? status : 'completed', output })
    if (!this.approvals.length) this.#runs('in_progress')
  }

  /** The calls that wait beside one. */
  #others({ action_id }: { readonly action_id: string }): readonly PendingAction[] {
    return this.approvals.filter((each) => each.action_id !== action_id)
  }

  #end(text: string, change: Partial<Message>, cited: readonly UrlCitation[] = []): void {
    const citations = cited.map((each) => ({ ...each, type: 'citation' as const }))
    this.#answer(({ parts }) => ({ parts: [...this.#withText(parts, text), ...citations], ...change }))
    this.approvals = []
    this.#runs('completed')
  }

  /** Says what the session does now that the newest turn has this status. */
  #runs(status: Message['status'], turn = this.run.turn): void {
    const isOpen = status === 'in_progress' || status === 'paused'
    this.run = { status: isOpen ? status : this.messages.some(isUnsent) ? 'sending' : 'idle', turn }
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
    return [...parts.slice(0, afterCalls(parts)), ...partsOf(text.slice(this.#before))]
  }

  /** Changes the newest message of the model; all others stay the objects that they are. */
  #answer(change: (answer: Message) => Partial<Message>): void {
    const answer = this.messages.findLast(({ role }) => role === 'assistant')
    this.messages = this.messages.map((each) => (each === answer ? { ...each, ...change(each) } : each))
  }
}

type DataOf<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>['data']

/** The id of a turn's input in the log. */
const inputOf = (turn: number): string => `msg_${turn}_user`

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

const isCall = (part: MessagePart, actionId: string): part is ToolPart => asFields(part).action_id === actionId

/** Where the text of the model call in progress begins: behind the calls before it, and its reasoning. */
const afterCalls = (parts: readonly MessagePart[]): number => parts.findLastIndex(({ type }) => type !== 'text') + 1
