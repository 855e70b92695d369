import type { Caller } from '#gateway/call/caller.ts'
import type { Row, TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { type ErrorCode, ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { type RecordStore, settledScope } from '#storage/index.ts'

type Messages = BodyOf<'messages.create'>['messages']

type ThreadData = {
  /** JSON of all messages, with the answer last; '' after a later answer has taken them over. */
  readonly messages: string
  /**
   * `open`: can be continued; `in_flight`: is being continued, until `in_flight_until_ms`; `continued`: was continued.
   */
  readonly state: 'open' | 'in_flight' | 'continued'
  readonly in_flight_until_ms: number
  /** Agent of the key that created it; keys of other agents cannot access it. */
  readonly agent_id: string | null
}

/** Threads of Anthropic's Messages API, each stored under the id of its newest answer. */
export const threadKind: TypedKind<ThreadData> = { name: 'message_threads' }

/** A thread that is not continued within this time (ms) is deleted. */
const keptMs = 30 * 24 * 60 * 60 * 1000
/** A continuation that has not ended after this time (ms) is considered lost, and the thread can be continued again. */
const flightMs = 15 * 60 * 1000
/** Maximum number of characters of a thread, which is one document in the store. */
const maxThreadChars = 4 * 1024 * 1024

/** The thread that a request creates or continues. */
export type ThreadRequest =
  | { readonly type: 'create' }
  | { readonly type: 'continue'; readonly previous_message_id: string }

/** A thread whose next message is being made. */
export interface OpenThread {
  /** All messages of the conversation, including those of the request. */
  readonly messages: Messages
  /** Id of the answer that the request continues; null for a new thread. */
  readonly previous: string | null
}

/** Stores the messages of threads, so that a request sends only the new ones. */
export class ThreadStore {
  readonly #table: Table<ThreadData>
  readonly #now: () => number
  /** Writes in progress, by id: the next request may arrive before a thread is durable. */
  readonly #writing = new Map<string, Promise<void>>()

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, threadKind, now)
    this.#now = now
  }

  /**
   * Opens a thread for a request.
   * @throws {ServiceError} with an error code of Anthropic's after which its SDKs send the whole conversation.
   */
  async open(caller: Caller, thread: ThreadRequest, messages: Messages): Promise<OpenThread> {
    if (thread.type === 'create') return { messages, previous: null }
    const id = thread.previous_message_id
    await this.#writing.get(id)
    let refusal: ServiceError | null = null
    const changed = await this.#table.change(caller.scope, id, {
      edit: (row) => {
        refusal = this.#refusalOf(row, caller)
        return refusal === null ? this.#inFlight(row.data) : null
      },
    })
    if (changed === null || refusal !== null) throw refusal ?? notFound()
    const earlier: Messages = JSON.parse(changed.data.messages)
    return { messages: [...earlier, ...messages], previous: id }
  }

  /**
   * Stores a thread under the id of its new answer. A thread longer than `maxThreadChars` is not stored: its
   * continuation gets `thread_not_found`, and the client sends the whole conversation. The message that it continued
   * can be continued again.
   */
  keep(
    caller: Caller,
    { messages, previous }: OpenThread,
    { id, content }: { readonly id: string; readonly content: unknown },
  ): Promise<void> {
    const text = JSON.stringify([...messages, { role: 'assistant', content }])
    const isTooLong = text.length > maxThreadChars
    const writing = isTooLong ? this.release(caller, { previous }) : this.#kept(caller, { id, previous, text })
    this.#writing.set(id, writing)
    return writing.finally(() => this.#writing.delete(id))
  }

  /** Makes the thread continuable again after a request without an answer. */
  async release(caller: Caller, { previous }: Pick<OpenThread, 'previous'>): Promise<void> {
    if (previous === null) return
    await this.#table.change(settledScope(caller.scope), previous, {
      edit: ({ data }) => (data.state === 'in_flight' ? { ...data, state: 'open' } : null),
    })
  }

  async #kept(caller: Caller, made: { id: string; previous: string | null; text: string }): Promise<void> {
    const { project, tenant, externalUserId, agentId, scope } = caller
    const { id, previous, text } = made
    const data: ThreadData = { messages: text, state: 'open', in_flight_until_ms: 0, agent_id: agentId }
    const user = tenant === null ? null : externalUserId
    await this.#table.insert({ id, project, tenant, user, expiresAtMs: this.#now() + keptMs, data })
    if (previous === null) return
    await this.#table.change(settledScope(scope), previous, {
      edit: ({ data: before }) => ({ ...before, messages: '', state: 'continued' }),
    })
  }

  #refusalOf({ tenant, data }: Row<ThreadData>, caller: Caller): ServiceError | null {
    if (tenant !== caller.tenant || (caller.agentId !== null && data.agent_id !== caller.agentId)) return notFound()
    if (data.state === 'continued')
      return refused('thread_already_continued', 'This message has already been continued.')
    if (data.state === 'in_flight' && data.in_flight_until_ms > this.#now())
      return refused('thread_continue_in_flight', 'Another request continues this message.')
    return null
  }

  #inFlight(data: ThreadData): ThreadData {
    return { ...data, state: 'in_flight', in_flight_until_ms: this.#now() + flightMs }
  }
}

const refused = (errorCode: string, message: string, code: ErrorCode = 'bad_request'): ServiceError =>
  new ServiceError(code, { param: 'thread', message, extra: { details: { error_code: errorCode } } })

const notFound = (): ServiceError =>
  refused('thread_not_found', 'No thread ends with this message. Send the whole conversation.', 'not_found')
