import { Conversation } from './conversation.ts'
import { ConnectionError, TroupeError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { type Connection, follow } from './follow.ts'
import { Frames } from './frames.ts'
import type { PageTools } from './functions.ts'
import type { Message, PendingAction, Run, Turn } from './messages.ts'
import { nextFrame } from './page.ts'
import { asFields, snapshotIn } from './schema.ts'
import type { Troupe } from './troupe.ts'

/** What a session shows. The object is replaced when anything of it changes; what has not changed stays. */
export interface SessionState {
  /** Null until the first message has created the session. */
  readonly id: string | null
  readonly messages: readonly Message[]
  /** Tool calls that wait. */
  readonly approvals: readonly PendingAction[]
  readonly run: Run
  readonly connection: Connection
  /** Why the newest request was refused, or why the log cannot be read. */
  readonly error: TroupeError | null
}

/** How a session is created and which tools its page has. */
export interface SessionOptions {
  /** Body of `sessions.create`, for a session without an id. */
  readonly create?: Readonly<Record<string, unknown>>
  /** Tools that the page runs: `pageFunctions({ … })`. */
  readonly functions?: PageTools | undefined
}

/** What a turn takes beside the message: fields of `sessions.turns`. */
export type TurnOptions = Readonly<Record<string, unknown>>

/** A decision about a tool call. */
export interface Decision {
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, unknown>>
  /** Output of a tool that the caller runs. */
  readonly output?: string | undefined
}

const initial: SessionState = {
  id: null,
  messages: [],
  approvals: [],
  run: { status: 'idle', turn: null },
  connection: 'idle',
  error: null,
}

/** Time in ms for which a session without readers stays connected: a component that is mounted again finds it. */
const lingerMs = 1000

/** Quiet in ms after which the pending calls of a log that is being read are taken for its present. */
const settledMs = 100

/** One conversation, as a store: of messages, of what waits, and of the connection. */
export class Session {
  readonly #client: Troupe
  readonly #options: SessionOptions & { readonly onId: (id: string) => void }
  readonly #listeners = new Set<() => void>()
  readonly #conversation = new Conversation()
  /** Called after each change of the log; one that returns true is done. */
  readonly #waiting = new Set<() => boolean>()
  #state: SessionState
  #id: string | null
  #creating: Promise<string> | null = null
  #last = -1
  #connection: Connection = 'idle'
  #error: TroupeError | null = null
  #reading: AbortController | null = null
  #isScheduled = false
  #quiet: ReturnType<typeof setTimeout> | undefined
  readonly #calls = new Set<string>()

  constructor(client: Troupe, id: string | null, options: SessionOptions & { readonly onId: (id: string) => void }) {
    this.#client = client
    this.#id = id
    this.#options = options
    this.#state = { ...initial, id }
  }

  /** The session's id; null until the first message has created it. */
  get id(): string | null {
    return this.#id
  }

  /** Returns what the session shows. The same object until something changes. */
  readonly getSnapshot = (): SessionState => this.#state

  /** Calls the listener after each change, at most once a frame, and reads the log meanwhile. @returns its end. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    this.#read()
    return () => {
      this.#listeners.delete(listener)
      this.#restSoon()
    }
  }

  /**
   * Sends a message, which is shown at once. It is sent until the server has it, and is taken back if the server refuses.
   *
   * @returns how its turn ended, once the log says so; rejects if the server refuses the message
   */
  send(input: string, options: TurnOptions = {}): Promise<Turn> {
    const id = crypto.randomUUID()
    this.#conversation.sending(id, input)
    this.#error = null
    this.#publish()
    const tools = [...(this.#options.functions?.tools ?? []), ...(Array.isArray(options.tools) ? options.tools : [])]
    return this.#turn(id, { input, ...options, ...(tools.length > 0 && { tools }) })
  }

  /** Repeats a turn that failed; the newest, if none is named. */
  retry(turn: number | null = this.#conversation.run.turn): Promise<Turn> {
    return this.#turn(crypto.randomUUID(), { retry_of: turn })
  }

  /** Ends the running or paused turn. Resolves when the log says so, also if it had ended already. */
  stop(): Promise<void> {
    return this.#reported(async () => {
      // a message on its way may be a turn already
      await this.#until(() => (this.#conversation.run.status === 'sending' ? null : true))
      const { turn } = this.#conversation.run
      await this.#post('cancel', {}, 'no_turn_in_progress')
      await this.#until(() => (turn === null || this.#conversation.outcome(turn) !== null ? true : null))
    })
  }

  /** Approves a tool call. Resolves with how the log resolved it. A function of this page is run first. */
  approve(actionId: string, { output, ...decision }: Decision = {}): Promise<string> {
    return this.#decide('approve', actionId, async () => {
      const given = output ?? (await this.#outputOf(actionId))
      const results = given === undefined ? {} : { tool_results: [{ action_id: actionId, output: given }] }
      return { action_id: actionId, ...decision, ...results }
    })
  }

  /** Rejects a tool call. Resolves with how the log resolved it. */
  reject(actionId: string): Promise<string> {
    return this.#decide('reject', actionId, () => Promise.resolve({ action_id: actionId }))
  }

  /** Copies the session up to a turn that has ended; the newest, if none is named. @returns the new session. */
  async fork(turn?: number): Promise<Session> {
    const response = await this.#post('fork', turn === undefined ? {} : { turn_number: turn })
    const { id } = asFields(await response?.json())
    return this.#client.sessions.open(String(id), { functions: this.#options.functions })
  }

  /** Yields the events of the log after a sequence, then live ones, until the loop is left. */
  async *events({ after = 0 }: { readonly after?: number } = {}): AsyncGenerator<SessionEvent> {
    const sessionId = await this.#created()
    const over = new AbortController()
    let [queue, wake]: [SessionEvent[], () => void] = [[], () => {}]
    const following = follow({
      client: this.#client,
      sessionId,
      after,
      signal: over.signal,
      onEvents: (events) => {
        queue.push(...events)
        wake()
      },
    })
    try {
      for (;;) {
        const events = queue
        queue = []
        yield* events
        const more = new Promise<void>((resolve) => {
          wake = resolve
        })
        if (queue.length === 0) await Promise.race([more, following])
      }
    } finally {
      over.abort()
    }
  }

  async #turn(id: string, body: object): Promise<Turn> {
    return this.#reported(async () => {
      try {
        const turn = await this.#begun(id, body)
        this.#conversation.confirmed(id, turn)
        return await this.#until(() => this.#conversation.outcome(turn))
      } catch (error) {
        this.#conversation.unsent(id)
        this.#check()
        throw error
      }
    })
  }

  /** Posts a turn until the log has it. @returns its number, which the first event of the response says. */
  async #begun(key: string, body: object): Promise<number> {
    const path = `/v1/sessions/${await this.#created()}/turns?event_names=short`
    this.#read()
    for (;;) {
      const response = await this.#client.request('POST', path, { body, idempotencyKey: key })
      const started = await firstEvent(response)
      if (started?.event === 'turn.started') return started.data.turn_number
    }
  }

  /** Shows what went wrong, also to callers that do not look at the promise. */
  #reported<T>(work: () => Promise<T>): Promise<T> {
    const result = work().catch((error: unknown) => {
      this.#error =
        error instanceof TroupeError ? error : new TroupeError(String(error), { code: 'unknown', cause: error })
      this.#publish()
      throw error
    })
    result.catch(() => {})
    return result
  }

  #decide(what: 'approve' | 'reject', actionId: string, body: () => Promise<object>): Promise<string> {
    this.#conversation.deciding(actionId, true)
    this.#publish()
    return this.#reported(async () => {
      try {
        await this.#post(what, await body(), 'action_already_resolved')
        return await this.#until(() => this.#conversation.resolution(actionId))
      } catch (error) {
        this.#conversation.deciding(actionId, false)
        throw error
      }
    })
  }

  async #outputOf(actionId: string): Promise<string | undefined> {
    const { functions } = this.#options
    const call = this.#conversation.approvals.find((each) => each.action_id === actionId)
    if (call?.run_by !== 'caller' || !functions?.has(call.tool)) return undefined
    return await functions.run(actionId, call.tool, call.arguments)
  }

  /** @param settled code of a refusal which says that the log has an outcome already: the log then says which */
  async #post(what: string, body: object, settled?: string): Promise<Response | null> {
    const path = `/v1/sessions/${await this.#created()}/${what}`
    this.#read()
    try {
      const response = await this.#client.request('POST', path, { body, idempotencyKey: crypto.randomUUID() })
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) await response.body?.cancel()
      return response
    } catch (error) {
      if (error instanceof TroupeError && error.code === settled) return null
      throw error
    }
  }

  async #created(): Promise<string> {
    if (this.#id !== null) return this.#id
    this.#creating ??= this.#create().finally(() => {
      this.#creating = null
    })
    return this.#creating
  }

  async #create(): Promise<string> {
    const body = this.#options.create ?? {}
    const response = await this.#client.request('POST', '/v1/sessions', { body, idempotencyKey: crypto.randomUUID() })
    const id = String(asFields(await response.json()).id)
    this.#id = id
    this.#options.onId(id)
    this.#publishSoon()
    return id
  }

  /** Resolves when the log gives a value, and rejects when the log cannot be read any more. */
  #until<T>(value: () => T | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = (): boolean => {
        const found = value()
        if (found !== null) {
          this.#publish()
          resolve(found)
        } else if (this.#connection !== 'ended') return false
        else reject(this.#error ?? new ConnectionError('The session cannot be read.', { code: 'connection' }))
        this.#waiting.delete(check)
        this.#restSoon()
        return true
      }
      this.#waiting.add(check)
      this.#read()
      check()
    })
  }

  /** Reads the log as long as there is a reader. */
  #read(): void {
    if (this.#reading !== null || this.#id === null || this.#connection === 'ended') return
    if (this.#listeners.size === 0 && this.#waiting.size === 0) return
    const reading = new AbortController()
    this.#reading = reading
    follow({
      client: this.#client,
      sessionId: this.#id,
      after: this.#last,
      signal: reading.signal,
      onEvents: (events) => this.#take(events),
      onStatus: (status, error) => this.#connected(status, error),
    }).catch(() => {})
  }

  #check(): void {
    for (const check of [...this.#waiting]) check()
  }

  #restSoon(): void {
    if (this.#listeners.size > 0 || this.#waiting.size > 0) return
    setTimeout(() => {
      if (this.#listeners.size > 0 || this.#waiting.size > 0 || this.#reading === null) return
      this.#reading.abort()
      this.#reading = null
      if (this.#connection !== 'ended') this.#connected('idle', null)
    }, lingerMs)
  }

  #connected(status: Connection, error: TroupeError | null): void {
    this.#connection = status
    if (error !== null || this.#error?.status === 0) this.#error = error
    this.#publishSoon()
    this.#check()
  }

  #take(events: readonly SessionEvent[]): void {
    let isOnlyText = true
    for (const event of events) {
      if (event.event !== 'output_text.delta') isOnlyText = false
      const snapshot = snapshotIn(event)
      if (snapshot === null) this.#conversation.apply(event)
      else this.#conversation.seed(snapshot)
    }
    this.#last = events.at(-1)?.id ?? this.#last
    this.#publishSoon()
    if (isOnlyText) return
    this.#check()
    clearTimeout(this.#quiet)
    if (this.#conversation.approvals.length > 0) this.#quiet = setTimeout(() => this.#runCalls(), settledMs)
  }

  /** Runs the pending calls of this page's functions that need no approval. */
  #runCalls(): void {
    for (const { action_id, tool, run_by } of this.#conversation.approvals) {
      if (run_by !== 'caller' || this.#options.functions?.has(tool) !== true || this.#calls.has(action_id)) continue
      this.#calls.add(action_id)
      void this.approve(action_id)
    }
  }

  #publishSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    nextFrame(() => {
      if (this.#isScheduled) this.#publish()
    })
  }

  #publish(): void {
    this.#isScheduled = false
    this.#conversation.publish()
    const { messages, approvals, run } = this.#conversation
    const next = { id: this.#id, messages, approvals, run, connection: this.#connection, error: this.#error }
    if (isSame(next, this.#state)) return
    this.#state = next
    for (const listener of [...this.#listeners]) listener()
  }
}

const isSame = (one: SessionState, other: SessionState): boolean =>
  one.messages === other.messages &&
  one.approvals === other.approvals &&
  one.run === other.run &&
  one.connection === other.connection &&
  one.error === other.error &&
  one.id === other.id

/** The first event of a response; null if it broke before. The rest comes with the log. */
const firstEvent = async (response: Response): Promise<SessionEvent | null> => {
  const frames = new Frames()
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      const [first] = frames.push(part.value)
      if (first !== undefined) return first
    }
  } catch {
    // the same request is sent again under the same key
  } finally {
    await reader?.cancel().catch(() => {})
  }
  return null
}
