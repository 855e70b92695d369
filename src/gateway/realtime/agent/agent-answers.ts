import { arrayOf, countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { StreamControl } from '#runtime/index.ts'
import { errors, ServiceError } from '#specs/errors/errors.ts'
import type { JsonObject, LogEvent } from '#storage/index.ts'
import type { ActiveResponse, Answer } from '../conversation/active-response.ts'
import { isOfUser, textOfItem } from '../conversation/chat-messages.ts'
import type { Conversation, Item } from '../conversation/conversation.ts'
import type { ResponseEnd } from '../conversation/response-writer.ts'
import type { SecretBudget } from '../secrets/secret-budget.ts'
import type { AgentOperations } from './agent-operations.ts'
import { TurnCosts } from './turn-costs.ts'

/** What a session offers to the answers of its agent. */
export interface AgentHost {
  readonly conversation: Conversation
  /** Begins a response that the client did not request. */
  begin(answer: Answer): void
  /** Whether a response is in progress. */
  readonly isAnswering: boolean
  /** The session beneath has ended or can no longer be followed here. */
  lost(error: ServiceError): void
}

export interface AgentAnswersParts {
  readonly operations: AgentOperations
  readonly budget: SecretBudget | null
  readonly sessionId: string
  readonly after: number
  /** What the session had cost before. */
  readonly costUsd: number
  /** Estimates the cost of a model call by what it read and wrote, in characters; null when the price is unknown. */
  readonly estimate: (model: string, read: number, written: number) => Promise<string | null>
}

/** The end of a response that waits for a decision, a function of the client, or the next turn. */
interface OpenAnswer {
  readonly response: ActiveResponse
  readonly end: (end: ResponseEnd) => void
  readonly fail: (error: ServiceError) => void
}

const noUsage = null
/** Time in ms for which a turn is followed after its client has left, to count what it costs. */
const maxAfterwardsMs = 15 * 60_000

/**
 * Answers by turns of a durable session, whose log is followed. A response ends where its turn ends or pauses; when a
 * turn goes on, whichever caller decided, another response begins.
 */
export class AgentAnswers {
  readonly #parts: AgentAnswersParts
  readonly #host: AgentHost
  readonly #costs: TurnCosts
  #control: StreamControl | null = null
  #open: OpenAnswer | null = null
  /** Items up to this one were given to the agent. */
  #given = new Set<string>()
  /** Calls of functions of the client for which the turn waits, and those that it left to the next turn. */
  readonly #pending = new Set<string>()
  readonly #owed = new Set<string>()
  /** Whether the turn in progress was cancelled here: what it still says is dropped. */
  #isCancelled = false
  #hasText = false
  #hasLeft = false
  #afterwards: NodeJS.Timeout | undefined
  /** Model of the turn in progress, and the characters that its call in progress has shown. */
  #model = ''
  #shown = 0
  /** Whether the turn of the response in progress was taken, once that is known. */
  #begun: Promise<boolean> = Promise.resolve(false)
  /** Resolves when the turn of a cancelled response has been cancelled: no other can begin before. */
  #cancelling: Promise<void> = Promise.resolve()
  /** Resolves when the events so far are written: what is spoken comes before the call that follows it. */
  #last: Promise<void> = Promise.resolve()

  constructor(parts: AgentAnswersParts, host: AgentHost) {
    const { operations, sessionId, budget, costUsd } = parts
    this.#parts = parts
    this.#host = host
    this.#costs = new TurnCosts(budget, costUsd, () => operations.cost(sessionId))
  }

  start(): void {
    const { operations, sessionId, after } = this.#parts
    this.#control = operations.follow(sessionId, after).start({
      push: (events) => {
        for (const event of events) this.#last = this.#last.then(() => this.#take(event)).catch(this.#broken)
        return true
      },
      end: () => this.#host.lost(new ServiceError('provider_stream_broken', { message: 'The session has ended.' })),
    })
  }

  /** The client has left. A turn of it that goes on is followed until its cost is known. */
  stop(): void {
    this.#hasLeft = true
    if (this.#costs.isOpen) this.#afterwards = setTimeout(() => this.#control?.stop(), maxAfterwardsMs).unref()
    else this.#control?.stop()
  }

  /** The cost of a turn that went on is known. The timer would keep all that the client has said. */
  #counted(): void {
    clearTimeout(this.#afterwards)
    this.#control?.stop()
  }

  /**
   * Gives the outputs that a turn waits for, or begins a turn with the words of the user since the last one. A turn that
   * goes on takes no words, and one that is refused has taken none: they are for the next.
   */
  readonly answer: Answer = async (response) => {
    await this.#cancelling.catch(() => {})
    await this.#costs.check()
    response.signal.throwIfAborted()
    const items = this.#host.conversation.items.filter(({ id }) => !this.#given.has(id))
    const due = items.filter(isOutputOf(this.#pending))
    const taken = due.length > 0 ? due : items
    for (const { id } of taken) this.#given.add(id)
    const ended = this.#opened(response)
    const refused = this.#costs.begun()
    const begun = due.length > 0 ? this.#approve(due) : this.#begin(items, response)
    this.#begun = begun.then(
      () => true,
      () => false,
    )
    try {
      await begun
    } catch (error) {
      this.#open = null
      refused()
      for (const { id } of taken) this.#given.delete(id)
      throw error
    }
    return ended
  }

  async #approve(due: readonly Item[]): Promise<void> {
    const { operations, sessionId } = this.#parts
    for (const item of due) {
      const result = resultOf(item)
      this.#pending.delete(result.action_id)
      await operations
        .approve(sessionId, { action_id: result.action_id, tool_results: [result] })
        .catch((error: unknown) => {
          if (mayPass(error)) this.#pending.add(result.action_id)
          throw error
        })
    }
  }

  async #begin(items: readonly Item[], response: ActiveResponse): Promise<void> {
    const { operations, sessionId } = this.#parts
    const input = items.filter(isOfUser).map(textOfItem).join('\n')
    const owed = items.filter(isOutputOf(this.#owed)).map(resultOf)
    await operations.turn(sessionId, {
      ...(input !== '' && { input }),
      ...(owed.length > 0 && { tool_results: owed }),
      ...toolsOf(response),
    })
    for (const { action_id } of owed) this.#owed.delete(action_id)
  }

  /** Decides about a call. @throws {ServiceError} */
  async decide(item: WireObject): Promise<void> {
    const { operations, sessionId } = this.#parts
    const action_id = textOf(item.approval_request_id)
    if (item.approve === true) await this.#costs.check()
    if (item.approve === true) await operations.approve(sessionId, { action_id })
    else await operations.reject(sessionId, { action_id })
  }

  /** The response in progress was cancelled: so is its turn, once it has begun. */
  cancelled(): Promise<void> {
    if (this.#open === null) return Promise.resolve()
    this.#open = null
    this.#isCancelled = true
    if (this.#shown > 0) this.#costs.cut(() => this.#estimated(this.#shown))
    this.#cancelling = this.#cancelTurn()
    return this.#cancelling
  }

  /** What the model call in progress has cost, which the total of the session will not have. */
  #estimated(written: number): Promise<string | null> {
    const read = this.#host.conversation.items.reduce((sum, item) => sum + textOfItem(item).length, 0)
    return this.#parts.estimate(this.#model, read, written)
  }

  async #cancelTurn(): Promise<void> {
    const { operations, sessionId } = this.#parts
    if (await this.#begun) await operations.cancel(sessionId).catch(unlessOver)
    else this.#isCancelled = false
  }

  #opened(response: ActiveResponse): Promise<ResponseEnd> {
    this.#hasText = false
    this.#shown = 0
    return new Promise((resolve, reject) => {
      this.#open = { response, end: resolve, fail: reject }
    })
  }

  readonly #broken = (error: unknown): void =>
    this.#host.lost(error instanceof ServiceError ? error : new ServiceError('internal_error', { cause: error }))

  async #take({ event_type, payload }: LogEvent): Promise<void> {
    const rests = this.#costs.take(event_type, this.#isCancelled && this.#open !== null)
    if (this.#hasLeft) {
      if (rests) this.#counted()
      return
    }
    if (this.#isCancelled) {
      if (event_type === 'turn.completed' || event_type === 'turn.failed') this.#isCancelled = false
      return
    }
    switch (event_type) {
      case 'turn.started':
        this.#model = textOf(payload.model)
        this.#shown = 0
        break
      case 'turn.resumed':
        this.#costs.begun()
        if (!this.#host.isAnswering) this.#host.begin((response) => this.#opened(response))
        break
      case 'output_text.delta':
        this.#hasText = true
        this.#shown += textOf(payload.delta).length
        this.#open?.response.text(textOf(payload.delta))
        break
      case 'tool_call.started':
        // the call that requests it is over, and its cost in the total
        this.#shown = 0
        break
      case 'tool_call.completed':
        await this.#ran(payload)
        break
      case 'turn.paused':
        await this.#paused(payload)
        break
      case 'turn.completed':
        await this.#completed(payload)
        break
      case 'turn.failed':
        this.#failed(payload)
    }
  }

  /** A tool of the server has run. */
  async #ran({ tool, output, action_id }: JsonObject): Promise<void> {
    if (this.#pending.has(textOf(action_id))) return
    const open = this.#open
    if (open === null) return
    const item = {
      type: 'mcp_call',
      server_label: 'agent',
      name: textOf(tool),
      arguments: '{}',
      output: textOf(output),
    }
    await open.response.spoken().catch(() => {})
    open.response.writer.item(item)
  }

  async #paused(payload: JsonObject): Promise<void> {
    const open = this.#closing()
    if (open === null) return
    await open.response.spoken().catch(() => {})
    const id = textOf(payload.action_id)
    const args = JSON.stringify(payload.arguments ?? {})
    const { writer } = open.response
    if (payload.run_by === 'caller') {
      this.#pending.add(id)
      writer.call(id, textOf(payload.tool), args)
    } else if (payload.reason === 'approval_required')
      writer.item({
        id,
        type: 'mcp_approval_request',
        server_label: 'agent',
        name: textOf(payload.tool),
        arguments: args,
      })
    else open.response.text(waitingFor(payload))
    open.end({ status: 'completed', usage: noUsage })
  }

  async #completed(payload: JsonObject): Promise<void> {
    const open = this.#closing()
    if (open === null) return
    if (!this.#hasText) open.response.text(textOf(payload.output))
    const calls = arrayOf(payload.tool_calls).map(objectOf)
    if (calls.length > 0) await open.response.spoken().catch(() => {})
    for (const { tool, arguments: args, action_id } of calls) {
      this.#owed.add(textOf(action_id))
      open.response.writer.call(textOf(action_id), textOf(tool), JSON.stringify(args ?? {}))
    }
    open.end({ status: 'completed', usage: usageOf(payload) })
  }

  #failed(payload: JsonObject): void {
    const { code, message } = objectOf(payload.error)
    const error = { type: 'server_error', code: textOf(code), message: textOf(message) }
    this.#closing()?.end({ status: 'failed', details: { error }, usage: usageOf(payload) })
  }

  #closing(): OpenAnswer | null {
    const open = this.#open
    this.#open = null
    return open
  }
}

const usageOf = ({ usage }: JsonObject): WireObject => {
  const { input_tokens, output_tokens, total_tokens, cost_usd } = objectOf(usage)
  const cost = typeof cost_usd === 'string' ? { cost_usd: Number(cost_usd) } : {}
  return {
    ...{ input_tokens: countOf(input_tokens), output_tokens: countOf(output_tokens) },
    ...{ total_tokens: countOf(total_tokens), ...cost },
  }
}

/** Whether an item is the output of one of these calls. */
const isOutputOf =
  (calls: ReadonlySet<string>) =>
  ({ type, call_id }: Item): boolean =>
    type === 'function_call_output' && calls.has(textOf(call_id))

/** Whether what was refused can succeed later: the turn still waits for it. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof ServiceError) || errors[error.code].status >= 500 || errors[error.code].status === 429

const resultOf = (item: Item) => ({ action_id: textOf(item.call_id), output: textOf(item.output) })

const toolsOf = ({ config: { tools } }: ActiveResponse): JsonObject =>
  tools.length === 0 ? {} : { tools: JSON.parse(JSON.stringify(tools)) }

/** What a turn waits for, where no item of the protocol says so. */
const waitingFor = ({ connection, input }: JsonObject): string => {
  const { authorize_url: url } = objectOf(connection)
  const { message } = objectOf(input)
  return textOf(message) || `A connection is required first${textOf(url) === '' ? '.' : `: ${textOf(url)}`}`
}

/** A turn that has ended in the meantime needs no cancelling. */
const unlessOver = (error: unknown): void => {
  if (!(error instanceof ServiceError) || error.code !== 'no_turn_in_progress') throw error
}
