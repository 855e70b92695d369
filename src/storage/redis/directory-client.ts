import { createClient } from 'redis'
import { Repository } from 'redis-om'
import { ConnectionMonitor, type PulseOptions } from './connection-monitor.ts'
import { type HostEntity, hostSchema, type LiveActorEntity, liveActorSchema } from './schema.ts'

/** The directory's redis-om repositories, on a separate connection. */
export interface Directory {
  readonly client: ReturnType<typeof newClient>
  readonly hosts: Repository<HostEntity>
  readonly actors: Repository<LiveActorEntity>
}

/**
 * Keeps a directory's connection open: redis-om only supports connections of `redis` 4, which wait forever for a
 * hanging server.
 */
export class DirectoryClient {
  readonly pulse: ConnectionMonitor
  readonly #url: string
  readonly #prefix: string
  #directory: Directory
  #reason = 'it does not answer'

  constructor(url: string, prefix: string, pulsing: PulseOptions) {
    this.#url = url
    this.#prefix = prefix
    this.pulse = new ConnectionMonitor(
      { beat: () => this.#directory.client.ping(), reconnect: () => this.#reopen() },
      pulsing,
    )
    this.#directory = this.#open()
  }

  /** Message of the last error. */
  get reason(): string {
    return this.#reason
  }

  /** Returns the result of `work`; undefined when the directory is unavailable or does not answer in time. */
  run<T>(work: (directory: Directory) => Promise<T>): Promise<T | undefined> {
    return this.pulse.run(() => work(this.#directory))
  }

  close(): void {
    this.pulse.close()
    drop(this.#directory)
  }

  #open(): Directory {
    const client = newClient(this.#url)
    client.on('error', (error: Error) => {
      this.#reason = error.message
      if (this.#isCurrent(client)) this.pulse.lost(this.#reason)
    })
    client.on('ready', () => {
      if (this.#isCurrent(client)) void this.pulse.beat()
    })
    client.connect().catch(() => {})
    return {
      client,
      hosts: new Repository(hostSchema(this.#prefix), client),
      actors: new Repository(liveActorSchema(this.#prefix), client),
    }
  }

  #isCurrent(client: Directory['client']): boolean {
    return client === this.#directory.client
  }

  #reopen(): void {
    drop(this.#directory)
    this.#directory = this.#open()
  }
}

const newClient = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 1_000,
      reconnectStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000),
    },
  })

const drop = ({ client }: Directory): void => {
  client.unref()
  client.disconnect().catch(() => {})
}
