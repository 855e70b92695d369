/** A connection as its pulse sees it. */
export interface Beating {
  /** Resolves when the server answers, and what the connection is there for works (its subscriptions, say). */
  beat(): Promise<unknown>
  /** Closes the connection, and opens it again. */
  reconnect(): void
}

/** How long an answer is waited for, and who is notified of changes, once each. */
export interface PulseOptions {
  readonly patienceMs: number
  readonly up: () => void
  /** @param reason in words, for a log line. */
  readonly down: (reason: string) => void
}

const beatMs = 250
/** A server that was silent for so long may sit behind a connection that is dead without notice. */
const silenceMs = 3_000

/**
 * Whether a connection answers: the first command that is not answered in time makes it `down`, and none is sent from
 * then on but one beat at a time, so that nothing waits for it or gathers up. An answered beat makes it `up` again.
 */
export class Pulse {
  #up = false
  #closed = false
  #beating = false
  #again = false
  #silentSince = performance.now()
  readonly #connection: Beating
  readonly #options: PulseOptions
  readonly #timer: NodeJS.Timeout

  constructor(connection: Beating, options: PulseOptions) {
    this.#connection = connection
    this.#options = options
    this.#timer = setInterval(() => this.#tick(), beatMs).unref()
  }

  get up(): boolean {
    return this.#up
  }

  /** The command's answer; undefined when there is none: not sent while it is down, refused, or not in time. */
  async run<T>(command: () => Promise<T>): Promise<T | undefined> {
    if (!this.#up) return undefined
    try {
      return await inTime(command(), this.#options.patienceMs)
    } catch (error) {
      if (error instanceof Late) this.lost('it does not answer in time')
      return undefined
    }
  }

  /** Looks whether the connection answers: now, or as soon as the look that is under way has ended. */
  async beat(): Promise<void> {
    if (this.#closed) return
    if (this.#beating) {
      this.#again = true
      return
    }
    this.#beating = true
    const beat = this.#connection.beat()
    const answered = beat.then(
      () => true,
      () => false,
    )
    // a late answer is an answer: until it is there no other is requested
    void answered.then((answers) => this.#heard(answers))
    try {
      await inTime(beat, this.#options.patienceMs)
    } catch (error) {
      this.lost(error instanceof Error ? error.message : String(error))
    }
  }

  /** The connection is known to be gone. */
  lost(reason: string): void {
    if (!this.#up) return
    this.#up = false
    this.#options.down(reason)
  }

  close(): void {
    this.#closed = true
    this.#up = false
    clearInterval(this.#timer)
  }

  #heard(answers: boolean): void {
    this.#beating = false
    if (this.#again) {
      this.#again = false
      void this.beat()
    }
    if (!answers || this.#closed) return
    this.#silentSince = performance.now()
    if (this.#up) return
    this.#up = true
    this.#options.up()
  }

  #tick(): void {
    if (performance.now() - this.#silentSince > silenceMs) {
      this.#silentSince = performance.now()
      this.#beating = false
      this.#connection.reconnect()
    }
    if (!this.#beating) void this.beat()
  }
}

class Late extends Error {
  constructor() {
    super('it does not answer in time')
  }
}

const inTime = <T>(answer: Promise<T>, patienceMs: number): Promise<T> =>
  new Promise((resolve, reject) => {
    // one more turn of the event loop: the answer may wait there, behind whatever has kept this process busy
    const timer = setTimeout(() => setImmediate(() => reject(new Late())), patienceMs)
    void answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
