import type { SessionEvent } from './events.ts'
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

const idle: Run = { status: 'idle', turn: null }

/**
 * The messages that a log makes. Deltas change what is pending; `publish` makes it visible, so that a burst of them
 * changes a message once.
 */
export class Conversation {
  messages: readonly Message[] = []
  approvals: readonly PendingAction[] = []
  run = idle
  /** How calls were resolved, by their actions. */
  readonly #resolved = new Map<string, string>()
  /** Ids of messages that were shown before the log had them, by their turn. */
  readonly #ids = new Map<number, string>()
  /** All text of the newest attempt of the turn, and how much of it stands before the newest tool call. */
  #text = ''
  #before = 0
  #isStale = false

  /** Begins with messages that the server has made of the log. */
  seed({ data, pending_actions }: Snapshot): void {
    const newest = data.at(-1)
    const ours = new Set(this.#ids.values())
    const known = data.map((each) => ({
      ...each,
      id: (each.role === 'user' && this.#ids.get(each.turn_number ?? 0)) || each.id,
    }))
    this.messages = [...known, ...this.messages.filter((each) => isUnsent(each) && !ours.has(each.id))]
    this.approvals = pending_actions
    const { status = 'completed', turn_number = null, parts = [] } = newest ?? {}
    this.run = { status: status === 'in_progress' || status === 'paused' ? status : 'idle', turn: turn_number }
    this.#text = textOf({ parts })
    this.#before = textOf({ parts: parts.slice(0, afterTools(parts)) }).length
  }

  /** Shows a message that is on its way. */
  sending(id: string, text: string): void {
    const message: Message = { id, role: 'user', turn_number: null, status: 'sending', parts: textParts(text) }
    this.messages = [...this.messages, message]
    if (this.run.status === 'idle') this.run = { ...this.run, status: 'sending' }
  }

  /** Takes a message back that the server refused. */
  unsent(id: string): void {
    this.messages = this.messages.filter((each) => each.id !== id || !isUnsent(each))
    if (this.run.status === 'sending') this.run = { ...this.run, status: 'idle' }
  }

  /** Joins a message on its way with the turn that the server made of it. */
  confirmed(id: string, turn: number): void {
    this.#ids.set(turn, id)
    const theirs = this.messages.find((each) => each.turn_number === turn && each.role === 'user')
    if (theirs === undefined || theirs.id === id) return
    const others = this.messages.filter((each) => each.id !== id)
    this.messages = others.map((each) => (each === theirs ? { ...theirs, id } : each))
  }

  /** Marks a decision of this client. */
  deciding(actionId: string, deciding: boolean): void {
    this.approvals = this.approvals.map((each) => (each.action_id === actionId ? { ...each, deciding } : each))
  }

  /** How a turn ended; null if it has not. */
  outcome(turn: number): Turn | null {
    const answer = this.messages.find((each) => each.turn_number === turn && each.role === 'assistant')
    if (answer?.status !== 'completed' && answer?.status !== 'failed') return null
    const { status, usage = null, error = null } = answer
    return { turn, status, text: textOf(answer), usage, error }
  }

  /** How a call was resolved; null if it waits. */
  resolution(actionId: string): string | null {
    const parts = this.messages.flatMap((message) => message.parts)
    const call = parts.find((part) => part.type === 'tool' && part.action_id === actionId)
    const known = this.#resolved.get(actionId)
    if (known !== undefined || call?.type !== 'tool' || call.status === 'pending') return known ?? null
    return call.status === 'rejected' ? 'rejected' : 'approved'
  }

  /** Applies an event of the log. */
  apply(event: SessionEvent): void {
    if (event.event === 'output_text.delta') {
      this.#text += event.data.delta
      this.#isStale = true
      return
    }
    this.publish()
    this.#change(event)
  }

  /** Makes the text so far visible. A new attempt leaves the text of the one before until it differs or says more. */
  publish(): void {
    if (!this.#isStale) return
    this.#isStale = false
    const text = this.#text.slice(this.#before)
    this.#answer((answer) => {
      const shown = textOf({ parts: answer.parts.slice(afterTools(answer.parts)) })
      return text.length < shown.length && shown.startsWith(text) ? {} : this.#withText(answer, this.#text)
    })
  }

  #change({ event, data }: SessionEvent): void {
    if (event === 'turn.started') this.#started(data)
    else if (event === 'turn.restarted') this.#text = ''
    else if (event === 'tool_call.started') {
      this.#before = this.#text.length
      const { action_id, tool } = data
      this.#answer(({ parts }) => ({
        parts: [...parts, { type: 'tool', action_id, tool, arguments: data.arguments, status: 'running' }],
      }))
    } else if (event === 'tool_call.progress') {
      const { action_id, tool, ...progress } = data
      this.#tool(action_id, { progress })
    } else if (event === 'tool_call.completed') this.#tool(data.action_id, { status: 'completed', output: data.output })
    else if (event === 'turn.paused') this.#paused(data)
    else if (event === 'turn.resumed') this.#resumed(data)
    else if (event === 'turn.completed') {
      const { output, usage, annotations = [] } = data
      this.#end((answer) => ({
        ...this.#withText(answer, output, annotations.map(citation)),
        status: 'completed',
        usage,
      }))
    } else if (event === 'turn.failed') {
      const { output, usage, error } = data
      this.#end((answer) => ({ ...this.#withText(answer, output.text), status: 'failed', usage, error }))
    }
  }

  #started({ turn_number: turn, input_text: input }: DataOf<'turn.started'>): void {
    this.#text = ''
    this.#before = 0
    this.run = { status: 'in_progress', turn }
    const id =
      this.#ids.get(turn) ??
      this.messages.find((each) => isUnsent(each) && textOf(each) === input)?.id ??
      `msg_${turn}_user`
    const others = this.messages.filter((each) => each.id !== id)
    const user: Message = { id, role: 'user', turn_number: turn, status: 'completed', parts: textParts(input) }
    const answer: Message = {
      id: `msg_${turn}_assistant`,
      role: 'assistant',
      turn_number: turn,
      status: 'in_progress',
      parts: [],
    }
    const known = others.filter((each) => !isUnsent(each))
    this.messages = [...known, ...(input === '' ? [] : [user]), answer, ...others.filter(isUnsent)]
  }

  #paused(data: DataOf<'turn.paused'>): void {
    const { action_id } = data
    const turn_number = this.run.turn ?? 0
    this.approvals = [...this.approvals.filter((each) => each.action_id !== action_id), { ...data, turn_number }]
    this.#runs('paused')
    this.#tool(action_id, { status: 'pending' })
  }

  #resumed({ action_id, resolution, output }: DataOf<'turn.resumed'>): void {
    this.#resolved.set(action_id, resolution)
    this.approvals = this.approvals.filter((each) => each.action_id !== action_id)
    if (output !== undefined) this.#tool(action_id, { status: 'completed', output })
    else this.#tool(action_id, { status: resolution === 'rejected' ? 'rejected' : 'running' })
    if (this.approvals.length === 0) this.#runs('in_progress')
  }

  #runs(status: 'in_progress' | 'paused'): void {
    this.run = { ...this.run, status }
    this.#answer(() => ({ status }))
  }

  #end(change: (answer: Message) => Partial<Message>): void {
    this.#answer(change)
    this.approvals = []
    this.run = { ...this.run, status: 'idle' }
  }

  #tool(actionId: string, change: Partial<ToolPart>): void {
    this.#answer(({ parts }) => ({
      parts: parts.map((part) => (part.type === 'tool' && part.action_id === actionId ? { ...part, ...change } : part)),
    }))
  }

  /** Replaces what stands after the newest tool call by the turn's whole text, less the part before that call. */
  #withText({ parts }: Message, text: string, more: readonly MessagePart[] = []): { readonly parts: Message['parts'] } {
    return { parts: [...parts.slice(0, afterTools(parts)), ...textParts(text.slice(this.#before)), ...more] }
  }

  /** Changes the newest message of the model; all others stay the objects that they are. */
  #answer(change: (answer: Message) => Partial<Message>): void {
    const at = this.messages.findLastIndex(({ role }) => role === 'assistant')
    const answer = this.messages[at]
    if (answer !== undefined) this.messages = this.messages.with(at, { ...answer, ...change(answer) })
  }
}

type DataOf<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>['data']

const isUnsent = ({ turn_number }: Message): boolean => turn_number === null

const textParts = (text: string): readonly MessagePart[] => (text === '' ? [] : [{ type: 'text', text }])

const citation = ({ type, ...place }: NonNullable<DataOf<'turn.completed'>['annotations']>[number]): MessagePart => ({
  type: 'citation',
  ...place,
})

const afterTools = (parts: readonly MessagePart[]): number => parts.findLastIndex(({ type }) => type === 'tool') + 1
