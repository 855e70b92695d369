import type { RequiredConnection, RequiredInput, SessionEvent, TurnError, TurnUsage, UrlCitation } from './events.ts'

/** A piece of text of a message. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** A tool call of a message. */
export interface ToolPart {
  readonly type: 'tool'
  readonly actionId: string
  readonly tool: string
  readonly arguments: unknown
  readonly state: 'running' | 'waiting' | 'rejected' | 'done'
  readonly output: string | null
  readonly progress: {
    readonly progress: number
    readonly total: number | null
    readonly message: string | null
  } | null
}

/** What a message consists of, in the order in which it came. */
export type MessagePart = TextPart | ToolPart

/** A message of the conversation. Its identity changes only when it does. */
export interface Message {
  /** Stays the same from the moment a message is sent. */
  readonly id: string
  readonly role: 'user' | 'assistant'
  /** Turn of the message; null until the log has it. */
  readonly turn: number | null
  readonly status: 'sending' | 'running' | 'waiting' | 'done' | 'failed'
  readonly parts: readonly MessagePart[]
  readonly citations: readonly UrlCitation[]
  readonly usage: TurnUsage | null
  readonly error: TurnError | null
}

/** A tool call that waits for a person, or for the page to run it. */
export interface PendingApproval {
  readonly actionId: string
  readonly turn: number
  readonly tool: string
  readonly arguments: unknown
  readonly reason: 'approval_required' | 'connection_required' | 'input_required'
  /** Whether the tool is run by the caller: the page. */
  readonly isOurs: boolean
  readonly connection: RequiredConnection | null
  readonly input: RequiredInput | null
  /** Whether a decision of this client is on its way. */
  readonly deciding: boolean
}

/** What the session is doing. */
export interface Run {
  readonly status: 'idle' | 'sending' | 'running' | 'waiting'
  readonly turn: number | null
}

/** How a turn ended. */
export interface Turn {
  readonly turn: number
  readonly status: 'completed' | 'failed'
  readonly text: string
  readonly usage: TurnUsage
  readonly error: TurnError | null
}

const empty = { status: 'running', parts: [], citations: [], usage: null, error: null } as const

/**
 * The messages that a log makes. Events change what is pending; `publish` makes it visible, so that a burst of deltas
 * changes a message once.
 */
export class Conversation {
  messages: readonly Message[] = []
  approvals: readonly PendingApproval[] = []
  run: Run = { status: 'idle', turn: null }
  readonly ended = new Map<number, Turn>()
  readonly resolved = new Map<string, string>()
  /** Ids of messages that were shown before the log had them, by their turn. */
  readonly #ids = new Map<number, string>()
  /** All text of the newest attempt of the turn, and how much of it stands before the newest tool call. */
  #text = ''
  #before = 0
  #isStale = false

  /** Shows a message that is on its way. */
  sending(id: string, text: string): void {
    this.messages = [
      ...this.messages,
      { ...empty, id, role: 'user', turn: null, status: 'sending', parts: textParts(text) },
    ]
    if (this.run.status === 'idle') this.run = { status: 'sending', turn: null }
  }

  /** Takes a message back that the server refused. */
  unsent(id: string): void {
    this.messages = this.messages.filter((message) => message.id !== id || message.turn !== null)
    if (this.run.status === 'sending') this.run = { status: 'idle', turn: null }
  }

  /** Joins a message on its way with the turn that the server made of it. */
  confirmed(id: string, turn: number): void {
    const theirs = this.messages.find((each) => each.role === 'user' && each.turn === turn)
    if (theirs?.id === id) return
    if (theirs === undefined) this.#ids.set(turn, id)
    else this.messages = this.messages.filter((each) => each.id !== id)
  }

  /** Marks a decision of this client. */
  deciding(actionId: string, deciding: boolean): void {
    this.approvals = this.approvals.map((each) => (each.actionId === actionId ? { ...each, deciding } : each))
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

  /** Makes the text so far visible. An attempt that repeats what is shown replaces it when it says more, or else. */
  publish(): void {
    if (!this.#isStale) return
    this.#isStale = false
    const text = this.#text.slice(this.#before)
    this.#answer((answer) => {
      const shown = textOf(answer.parts.slice(lastTool(answer.parts) + 1))
      return text.length < shown.length && shown.startsWith(text) ? answer : withText(answer, text)
    })
  }

  #change(event: SessionEvent): void {
    switch (event.event) {
      case 'turn.started':
        this.#started(event.data.turn_number, event.data.input_text)
        break
      case 'turn.restarted':
        this.#text = ''
        break
      case 'tool_call.started':
        this.#called(event.data)
        break
      case 'tool_call.progress': {
        const { progress, total, message } = event.data
        this.#tool(event.data.action_id, { progress: { progress, total, message } })
        break
      }
      case 'tool_call.completed':
        this.#tool(event.data.action_id, { state: 'done', output: event.data.output })
        break
      case 'turn.paused':
        this.#paused(event.data)
        break
      case 'turn.resumed':
        this.#resumed(event.data)
        break
      case 'turn.completed':
        this.#completed(event.data)
        break
      case 'turn.failed':
        this.#failed(event.data)
        break
      default:
    }
  }

  #started(turn: number, input: string): void {
    this.#text = ''
    this.#before = 0
    this.run = { status: 'running', turn }
    const id = this.#ids.get(turn) ?? this.#sendingId(input) ?? `${turn}.user`
    const user: Message = { ...empty, id, role: 'user', turn, status: 'done', parts: textParts(input) }
    const answer: Message = { ...empty, id: `${turn}.assistant`, role: 'assistant', turn }
    const others = this.messages.filter((each) => each.id !== id)
    const waiting = others.filter((each) => each.turn === null)
    const known = others.filter((each) => each.turn !== null)
    this.messages = [...known, ...(input === '' ? [] : [user]), answer, ...waiting]
  }

  #sendingId(input: string): string | undefined {
    return this.messages.find(({ turn, parts }) => turn === null && textOf(parts) === input)?.id
  }

  #called(call: { readonly action_id: string; readonly tool: string; readonly arguments: unknown }): void {
    const part: ToolPart = {
      type: 'tool',
      actionId: call.action_id,
      tool: call.tool,
      arguments: call.arguments,
      state: 'running',
      output: null,
      progress: null,
    }
    this.#before = this.#text.length
    this.#answer((answer) => ({ ...answer, parts: [...answer.parts, part] }))
  }

  #paused(data: Extract<SessionEvent, { event: 'turn.paused' }>['data']): void {
    const turn = this.run.turn ?? 0
    const approval: PendingApproval = {
      actionId: data.action_id,
      turn,
      tool: data.tool,
      arguments: data.arguments,
      reason: data.reason,
      isOurs: data.run_by === 'caller',
      connection: data.connection ?? null,
      input: data.input ?? null,
      deciding: false,
    }
    this.approvals = [...this.approvals.filter(({ actionId }) => actionId !== data.action_id), approval]
    this.run = { status: 'waiting', turn }
    this.#tool(data.action_id, { state: 'waiting' })
    this.#answer((answer) => ({ ...answer, status: 'waiting' }))
  }

  #resumed({ action_id, resolution, output }: Extract<SessionEvent, { event: 'turn.resumed' }>['data']): void {
    this.resolved.set(action_id, resolution)
    this.approvals = this.approvals.filter(({ actionId }) => actionId !== action_id)
    const state = resolution === 'rejected' ? 'rejected' : output === undefined ? 'running' : 'done'
    this.#tool(action_id, { state, output: output ?? null })
    if (this.approvals.length > 0) return
    this.run = { ...this.run, status: 'running' }
    this.#answer((answer) => ({ ...answer, status: 'running' }))
  }

  #completed({
    turn_number,
    output,
    usage,
    annotations,
  }: Extract<SessionEvent, { event: 'turn.completed' }>['data']): void {
    this.#answer((answer) => ({
      ...withText(answer, output.slice(this.#before)),
      status: 'done',
      usage,
      citations: annotations ?? [],
    }))
    this.#end({ turn: turn_number, status: 'completed', text: output, usage, error: null })
  }

  #failed({ turn_number, output, error, usage }: Extract<SessionEvent, { event: 'turn.failed' }>['data']): void {
    this.#answer((answer) => ({ ...withText(answer, output.text.slice(this.#before)), status: 'failed', usage, error }))
    this.#end({ turn: turn_number, status: 'failed', text: output.text, usage, error })
  }

  #end(turn: Turn): void {
    this.ended.set(turn.turn, turn)
    this.approvals = []
    this.run = { status: 'idle', turn: turn.turn }
  }

  #tool(actionId: string, change: Partial<ToolPart>): void {
    this.#answer((answer) => ({
      ...answer,
      parts: answer.parts.map((part) =>
        part.type === 'tool' && part.actionId === actionId ? { ...part, ...change } : part,
      ),
    }))
  }

  /** Changes the newest message of the model; all others stay the objects that they are. */
  #answer(change: (answer: Message) => Message): void {
    const at = this.messages.findLastIndex(({ role }) => role === 'assistant')
    const answer = this.messages[at]
    if (answer === undefined) return
    const changed = change(answer)
    if (changed !== answer) this.messages = this.messages.with(at, changed)
  }
}

const textParts = (text: string): readonly MessagePart[] => (text === '' ? [] : [{ type: 'text', text }])

const lastTool = (parts: readonly MessagePart[]): number => parts.findLastIndex(({ type }) => type === 'tool')

/** Replaces the text after the newest tool call. */
const withText = (message: Message, text: string): Message => ({
  ...message,
  parts: [...message.parts.slice(0, lastTool(message.parts) + 1), ...textParts(text)],
})

/** All text of a message's parts. */
export const textOf = (parts: readonly MessagePart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
