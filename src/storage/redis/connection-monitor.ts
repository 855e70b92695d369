/** A connection that a pulse monitors. */
export interface MonitoredConnection {
  /** Resolves when the server answers and the connection's setup (such as its subscriptions) works. */
  beat(): Promise<unknown>
  /** Closes the connection and opens it again. */
  reconnect(): void
}

/** Options of a pulse: the timeout of an answer in ms, and callbacks, each called once per change. */
export interface PulseOptions {
  readonly patienceMs: number
  readonly up: () => void
  /** @param reason in words, for a log line. */
  readonly down: (reason: string) => void
}

const beatMs = 250
/** Silence in ms after which the connection is reopened, since it may be dead without notice. */
const silenceMs = 3_000

/**
 * Tracks whether a connection answers. The first command that is not answered in time makes it `down`; from then on
 * only one beat at a time is sent, so that no command waits or queues up. An answered beat makes it `up` again.
 */
export class ConnectionMonitor {
  #up = false
  #closed = false
  #beating = false
  #again = false
  #silentSince = performance.now()
  readonly #connection: MonitoredConnection
  readonly #options: PulseOptions
  readonly #timer: NodeJS.Timeout

  constructor(connection: MonitoredConnection, options: PulseOptions) {
    this.#connection = connection
    this.#options = options
    this.#timer = setInterval(() => this.#tick(), beatMs).unref()
  }

  get up(): boolean {
    return this.#up
  }

  /**
   * Returns the command's answer; undefined when it was not sent because the connection is down, was refused, or timed
   * out.
   */
  async run<T>(command: () => Promise<T>): Promise<T | undefined> {
    if (!this.#up) return undefined
    try {
      return await inTime(command(), this.#options.patienceMs)
    } catch (error) {
      if (error instanceof Late) this.lost('it does not answer in time')
      return undefined
    }
  }

  /** Checks whether the connection answers, now or as soon as the current check has ended. */
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
    // a late answer counts as well: no other beat is sent until it has arrived
    void answered.then((answers) => this.#heard(answers))
    try {
      await inTime(beat, this.#options.patienceMs)
    } catch (error) {
      this.lost(error instanceof Error ? error.message : String(error))
    }
  }

  /** Called when the connection is known to be broken. */
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
    // one more turn of the event loop: the answer may be queued there if this process was busy
    const timer = setTimeout(() => setImmediate(() => reject(new Late())), patienceMs)
    void answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
