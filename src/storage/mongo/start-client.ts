import { type Db, MongoClient } from 'mongodb'

/** Time in ms without work after which the client is closed. */
const idleMs = 5_000

/** Timeouts in ms of a start: no request waits yet, and the server may be starting too, or have just been restarted. */
const waits = { serverSelectionTimeoutMS: 10_000, connectTimeoutMS: 10_000, socketTimeoutMS: 120_000 } as const

/**
 * A client for the work of a start, such as building indexes. It has its own timeouts: those of requests are too short,
 * and the driver ignores the timeout of an operation. It is open only while such work is done.
 */
export class StartClient {
  readonly #open: () => MongoClient
  readonly #database: string
  #client: MongoClient | null = null
  #working = 0
  #idle: NodeJS.Timeout | undefined

  /** @param patienceMs replaces the timeouts, in tests. */
  constructor(url: string, database: string, patienceMs?: number) {
    const own =
      patienceMs === undefined ? waits : { serverSelectionTimeoutMS: patienceMs, connectTimeoutMS: patienceMs }
    this.#open = () => new MongoClient(url, { ...own, maxPoolSize: 8, appName: 'troupe-start' })
    this.#database = database
  }

  /** Does work with the client. */
  async run<T>(work: (db: Db) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle)
    this.#working++
    this.#client ??= this.#open()
    try {
      return await work(this.#client.db(this.#database))
    } finally {
      this.#working--
      if (this.#working === 0) this.#idle = setTimeout(() => void this.close(), idleMs).unref()
    }
  }

  /** Closes the client; later work opens it again. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const client = this.#client
    this.#client = null
    await client?.close()
  }
}
