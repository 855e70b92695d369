import { createClient } from 'redis'
import { Repository } from 'redis-om'
import { Pulse, type PulseOptions } from './pulse.ts'
import { type HostEntity, hostSchema, type LiveActorEntity, liveActorSchema } from './schema.ts'

/** redis-om's view of the directory, over a connection of its own. */
export interface Directory {
  readonly client: ReturnType<typeof newClient>
  readonly hosts: Repository<HostEntity>
  readonly actors: Repository<LiveActorEntity>
}

/** Keeps a directory open: redis-om takes no connection but one of `redis` 4, which waits for a hanging server for ever. */
export class DirectoryClient {
  readonly pulse: Pulse
  readonly #url: string
  readonly #prefix: string
  #directory: Directory
  #reason = 'it does not answer'

  constructor(url: string, prefix: string, pulsing: PulseOptions) {
    this.#url = url
    this.#prefix = prefix
    this.pulse = new Pulse({ beat: () => this.#directory.client.ping(), reconnect: () => this.#reopen() }, pulsing)
    this.#directory = this.#open()
  }

  /** Its last error, in words. */
  get reason(): string {
    return this.#reason
  }

  /** What `work` answers; undefined when the directory is away or does not answer in time. */
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
