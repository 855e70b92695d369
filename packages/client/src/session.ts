import { Conversation } from './conversation.ts'
import { usage } from './credential.ts'
import { TroupeError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { type Connection, follow } from './follow.ts'
import { readFrames } from './frames.ts'
import type { PageTools } from './functions.ts'
import type { Message, PendingAction, Run, Turn, TurnInput } from './messages.ts'
import { beforeNext, nextFrame } from './page.ts'
import { asFields } from './schema.ts'
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

/** Time in ms for which a session without readers stays connected: a component that is mounted again finds it. */
const lingerMs = 1000

/** Time in ms for the beginning of an answer to a request of a session, before it is sent again. */
const timeoutMs = 10_000

/** One conversation, as a store: of messages, of what waits, and of the connection. */
export class Session {
  readonly #client: Troupe
  readonly #options: SessionOptions
  readonly #listeners = new Set<() => void>()
  /** What the next state will be. */
  readonly #next = new Conversation()
  #state: SessionState
  #creating: Promise<string> | undefined
  #last = -1
  #reading: AbortController | undefined
  #isScheduled = false

  constructor(client: Troupe, id: string | null, options: SessionOptions) {
    this.#client = client
    this.#options = options
    this.#next.id = id
    this.#state = { ...this.#next }
  }

  /** The session's id; null until the first message has created it. */
  get id(): string | null {
    return this.#next.id
  }

  /** Returns what the session shows. The same object until something changes. */
  readonly getSnapshot = (): SessionState => this.#state

  /** Calls the listener after each change, at most once a frame, and reads the log meanwhile. @returns its end. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    this.#read()
    return () => {
      this.#listeners.delete(listener)
      setTimeout(() => {
        if (this.#listeners.size) return
        this.#reading?.abort()
        this.#reading = undefined
        if (this.#next.connection !== 'ended') this.#connected('idle')
      }, lingerMs)
    }
  }

  /**
   * Sends a message, of text or of parts with images, which is shown at once. It is sent until the server has it, and is taken back if the server refuses.
   *
   * @returns how its turn ended, once the log says so; rejects if the server refuses the message
   */
  send(input: TurnInput, options: TurnOptions = {}): Promise<Turn> {
    const id = crypto.randomUUID()
    this.#next.sending(id, input)
    this.#publish()
    return this.#turn(id, { input, ...options, ...this.#options.functions?.with(options.tools) })
  }

  /** Repeats a turn that failed; the newest, if none is named. */
  retry(turn: number | null = this.#next.run.turn): Promise<Turn> {
    return this.#turn(crypto.randomUUID(), { retry_of: turn })
  }

  /** Ends the running or paused turn. Resolves when the log says so, also if it had ended already. */
  stop(): Promise<void> {
    return this.#reported(async () => {
      // a message on its way may be a turn already
      await this.#until(() => this.#next.run.status !== 'sending')
      const { turn } = this.#next.run
      await this.#post('cancel', {}, 'no_turn_in_progress')
      await this.#until(() => !turn || this.#next.outcome(turn))
    })
  }

  /** Approves a tool call. Resolves with how the log resolved it. A function of this page is run first. */
  approve(actionId: string, { output, ...decision }: Decision = {}): Promise<string> {
    return this.#decide('approve', actionId, async () => {
      const given = output ?? (await this.#options.functions?.run(this, actionId))
      return { ...decision, tool_results: given === undefined ? given : [{ action_id: actionId, output: given }] }
    })
  }

  /** Rejects a tool call. Resolves with how the log resolved it. */
  reject(actionId: string): Promise<string> {
    return this.#decide('reject', actionId)
  }

  /** Copies the session up to a turn that has ended; the newest, if none is named. @returns the new session. */
  async fork(turn?: number): Promise<Session> {
    const response = await this.#post('fork', { turn_number: turn })
    return this.#client.sessions.open(await idIn(response), this.#options)
  }

  /** Returns an image of a message, by its `image_id`; a page shows it with `URL.createObjectURL`. */
  async image(id: string): Promise<Blob> {
    return (await this.#client.request('GET', `/v1/sessions/${this.id}/images/${id}`)).blob()
  }

  /** Yields the events of the log after a sequence, then live ones, until the loop is left. */
  async *events({ after = 0 }: { readonly after?: number } = {}): AsyncGenerator<SessionEvent> {
    const over = new AbortController()
    const queue: SessionEvent[] = []
    let wake: (() => void) | undefined
    const following = follow({
      client: this.#client,
      sessionId: await this.#created(),
      after,
      signal: over.signal,
      take: (events) => {
        queue.push(...events)
        wake?.()
      },
    })
    try {
      for (;;) {
        yield* queue.splice(0)
        if (!queue.length) await Promise.race([new Promise<void>((resolve) => (wake = resolve)), following])
      }
    } finally {
      over.abort()
    }
  }

  #turn(idempotencyKey: string, body: object): Promise<Turn> {
    return this.#reported(
      async () => {
        const path = `/${await this.#created()}/turns`
        let turn = 0
        const take = (events: readonly SessionEvent[]) => {
          for (const { data } of events) turn ||= asFields<{ readonly turn_number: number }>(data).turn_number
          return !turn
        }
        // after a break, the same request is sent again under the same key
        for (let tries = 0; !turn; tries++) {
          if (tries > 99) throw new TroupeError('No turn.', { code: 'connection' })
          await beforeNext(tries)
          await readFrames(await this.#send(body, path, idempotencyKey), take).catch(() => {})
        }
        this.#next.confirmed(idempotencyKey, turn)
        return this.#until(() => this.#next.outcome(turn))
      },
      () => this.#next.unsent(idempotencyKey),
    )
  }

  /** Shows what went wrong, also to callers that do not look at the promise. */
  #reported<T>(work: () => Promise<T>, undo = () => {}): Promise<T> {
    const result = work().catch((cause: unknown) => {
      undo()
      this.#next.error = cause instanceof TroupeError ? cause : usage(`${cause}`, cause)
      this.#publish()
      throw cause
    })
    result.catch(() => {})
    return result
  }

  #decide(what: 'approve' | 'reject', action_id: string, body?: () => Promise<object>): Promise<string> {
    this.#next.deciding(action_id, true)
    this.#publish()
    return this.#reported(
      async () => {
        await this.#post(what, { action_id, ...(await body?.()) }, 'action_already_resolved')
        return this.#until(() => this.#next.resolution(action_id))
      },
      () => this.#next.deciding(action_id, false),
    )
  }

  /** @param settled code of a refusal which says that the log has an outcome already: the log then says which */
  async #post(what: string, body: object, settled?: string): Promise<Response | undefined> {
    const path = `/${await this.#created()}/${what}`
    const response = await this.#send(body, path).catch((error: unknown) => {
      if (asFields(error).code !== settled) throw error
      return undefined
    })
    // the log has the same events
    if (what === 'approve') await response?.body?.cancel()
    return response
  }

  #send(body: object, path = '', idempotencyKey?: string): Promise<Response> {
    return this.#client.request('POST', `/v1/sessions${path}`, { body, idempotencyKey, timeoutMs })
  }

  #created(): Promise<string> {
    this.#creating ??= this.#create().finally(() => {
      this.#creating = undefined
    })
    return this.#creating
  }

  async #create(): Promise<string> {
    if (this.id) return this.id
    const id = await idIn(await this.#send(Object(this.#options.create)))
    this.#next.id = id
    this.#client.opened.set(id, this)
    this.#read()
    return id
  }

  /** Resolves when the log gives a value, and rejects when the log cannot be read any more. */
  #until<T>(value: () => T | null | false): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = value()
        if (!found && this.#next.connection !== 'ended') return
        stop()
        this.#publish()
        if (found) resolve(found)
        else reject(this.#next.error)
      }
      const stop = this.subscribe(check)
      check()
    })
  }

  /** Reads the log as long as there is a reader; also one that had ended, once its readers were gone. */
  #read(): void {
    const { id } = this.#next
    if (this.#reading || !id || !this.#listeners.size) return
    this.#reading = new AbortController()
    follow({
      client: this.#client,
      sessionId: id,
      after: this.#last,
      signal: this.#reading.signal,
      take: (events) => this.#take(events),
      onStatus: (status, error) => this.#connected(status, error),
    }).catch(() => {})
  }

  #connected(status: Connection, error: TroupeError | null = null): void {
    this.#next.connection = status
    if (error || this.#next.error?.status === 0) this.#next.error = error
    this.#publishSoon()
  }

  #take(events: readonly SessionEvent[]): void {
    for (const event of events) {
      this.#next.apply(event)
      this.#last = event.id
    }
    this.#publishSoon()
    this.#options.functions?.serve(this)
  }

  #publishSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    nextFrame(() => this.#publish())
  }

  #publish(): void {
    this.#isScheduled = false
    this.#next.flush()
    const next = { ...this.#next }
    const before = asFields(this.#state)
    if (!Object.entries(next).some(([name, value]) => value !== before[name])) return
    this.#state = next
    for (const listener of [...this.#listeners]) listener()
  }
}

const idIn = async (response?: Response): Promise<string> =>
  asFields<{ readonly id: string }>(await response?.json()).id
