import type { Caller } from '#gateway/call/caller.ts'
import type { Row, TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { type ErrorCode, ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import type { RecordStore } from '#storage/ports.ts'

type Messages = BodyOf<'messages.create'>['messages']

type ThreadData = {
  /** JSON of all messages, the answer last; '' once a later answer has them. */
  readonly messages: string
  /** `open` can be continued; `in_flight` is, until a time; `continued` was. */
  readonly state: 'open' | 'in_flight' | 'continued'
  readonly in_flight_until_ms: number
  /** Of an agent's key: no other agent's key reaches it. */
  readonly agent_id: string | null
}

/** Threads of Anthropic's Messages, each under the id of its newest answer. */
export const threadKind: TypedKind<ThreadData> = { name: 'message_threads' }

/** What is not continued for so long is gone. */
const keptMs = 30 * 24 * 60 * 60 * 1000
/** A continuation that has not ended by then never will. */
const flightMs = 15 * 60 * 1000
/** A thread is one document of the store. */
export const maxThreadChars = 4 * 1024 * 1024

/** What a request says of its thread. */
export type ThreadRequest =
  | { readonly type: 'create' }
  | { readonly type: 'continue'; readonly previous_message_id: string }

/** A thread while its next message is made. */
export interface OpenThread {
  /** All messages of the request. */
  readonly messages: Messages
  /** The answer that it continues; null for a new thread. */
  readonly previous: string | null
}

/** Keeps the messages of threads, so that a request brings the new ones only. */
export class ThreadStore {
  readonly #table: Table<ThreadData>
  readonly #now: () => number
  /** What is being written: the next request may come before the store has it. */
  readonly #writing = new Map<string, Promise<void>>()

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, threadKind, now)
    this.#now = now
  }

  /** @throws {ServiceError} with the code of Anthropic's at which its SDKs send the whole conversation. */
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

  /** Keeps a thread under the id of its new answer. What cannot be kept is not found later, and begun anew. */
  keep(
    caller: Caller,
    { messages, previous }: OpenThread,
    { id, content }: { readonly id: string; readonly content: unknown },
  ): Promise<void> {
    const writing = this.#kept(caller, {
      id,
      previous,
      text: JSON.stringify([...messages, { role: 'assistant', content }]),
    })
    this.#writing.set(id, writing)
    return writing.finally(() => this.#writing.delete(id))
  }

  /** The answer did not come: the thread can be continued again. */
  async release(caller: Caller, { previous }: OpenThread): Promise<void> {
    if (previous === null) return
    await this.#table.change(caller.scope, previous, {
      edit: ({ data }) => (data.state === 'in_flight' ? { ...data, state: 'open' } : null),
    })
  }

  async #kept(caller: Caller, made: { id: string; previous: string | null; text: string }): Promise<void> {
    const { project, tenant, externalUserId, agentId, scope } = caller
    const { id, previous, text } = made
    if (text.length > maxThreadChars) return
    const data: ThreadData = { messages: text, state: 'open', in_flight_until_ms: 0, agent_id: agentId }
    const user = tenant === null ? null : externalUserId
    await this.#table.insert({ id, project, tenant, user, expiresAtMs: this.#now() + keptMs, data })
    if (previous === null) return
    await this.#table.change(scope, previous, {
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
