import { Cluster, Command, Redis } from 'ioredis'
import type { HostPort, RedisTarget } from '../addresses/redis-address.ts'
import { type Connection, retryDelay, serverOptions } from './connection.ts'
import { ConnectionMonitor, type PulseOptions } from './connection-monitor.ts'
import { Subscriber, type SubscriberOptions } from './subscriber.ts'

/** Interval in ms at which the masters are read again while one does not answer. */
const searchMs = 500
/** Release of Redis that has sharded channels: messages reach only the servers of the channel's slot. */
const shardedFrom = 7

/**
 * Connects to a cluster. Each master has its own pulse, so that one that fails costs nothing for the keys of the others.
 * Masters are read again while one does not answer, and when a server refers to another one.
 */
export class ClusterConnection implements Connection {
  readonly client: Cluster
  readonly kind = 'cluster'
  readonly #target: RedisTarget
  readonly #pulsing: PulseOptions
  readonly #monitors = new Map<string, ConnectionMonitor>()
  readonly #subscribers: Subscriber[] = []
  readonly #search: NodeJS.Timeout
  #isSharded: boolean | undefined
  #reason = 'it does not answer'

  constructor(target: RedisTarget, pulsing: PulseOptions) {
    this.#target = target
    this.#pulsing = pulsing
    this.client = new Cluster([...target.address.hosts], {
      redisOptions: serverOptions(target),
      enableOfflineQueue: false,
      // the monitors check the masters; the client's own check would fail while one is being connected to
      enableReadyCheck: false,
      // a host keeps its name, which its certificate carries
      dnsLookup: (host, found) => found(null, host),
      clusterRetryStrategy: retryDelay,
      slotsRefreshTimeout: 500,
      maxRedirections: 4,
      // a command whose connection broke may have been executed
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
    })
    const note = (error: Error): void => {
      this.#reason = error.message
    }
    this.client.on('error', note)
    this.client.on('node error', note)
    this.client.on('refresh', () => this.#keep(mastersOf(this.client.slots)))
    this.client.on('close', () => this.#keep(new Set()))
    this.#search = setInterval(() => {
      if (!this.up) this.#refresh()
    }, searchMs).unref()
  }

  get up(): boolean {
    return this.#monitors.size > 0 && [...this.#monitors.values()].every(({ up }) => up)
  }

  async run<T>(key: string, command: () => Promise<T>): Promise<T | undefined> {
    return this.#monitors.get(this.#masterOf(key) ?? '')?.run(command)
  }

  reaches(key: string): boolean {
    return this.#monitors.get(this.#masterOf(key) ?? '')?.up === true
  }

  publish(channel: string, message: string): void {
    if (this.#isSharded === undefined || !this.reaches(channel)) return
    const sent = this.#isSharded
      ? this.client.spublish(channel, message)
      : // every server gets the message, in the order of this one
        this.#nodeAt(this.#masterOf(channel))?.publish(channel, message)
    sent?.catch(() => {})
  }

  subscriber(options: SubscriberOptions): Subscriber {
    const master = () => this.#nodeAddress(this.#masterOf(options.channel))
    const client = new Redis({
      ...serverOptions(this.#target),
      ...(master() ?? this.#target.address.hosts[0]),
      enableOfflineQueue: false,
      retryStrategy: retryDelay,
    })
    const shard = { master, isSharded: () => this.#isSharded, search: this.#refresh }
    const subscriber = new Subscriber(client, options, shard)
    this.#subscribers.push(subscriber)
    return subscriber
  }

  description(): string {
    const masters = [...this.#monitors]
    const silent = masters.filter(([, { up }]) => !up).map(([at]) => at)
    const names = masters.map(([at]) => at).join(', ')
    const trouble = masters.length === 0 ? ', does not answer' : silent.map((at) => `, ${at} does not answer`).join('')
    return `cluster of ${masters.length} masters${names === '' ? '' : `: ${names}`}${this.#target.address.isTls ? ', TLS' : ''}${trouble}`
  }

  reason(): string {
    return this.#reason
  }

  close(): void {
    clearInterval(this.#search)
    for (const monitor of this.#monitors.values()) monitor.close()
    this.client.disconnect()
  }

  /** Monitors exactly these masters. */
  #keep(masters: ReadonlySet<string>): void {
    for (const [at, monitor] of this.#monitors) {
      if (masters.has(at)) continue
      monitor.close()
      this.#monitors.delete(at)
    }
    for (const at of masters) if (!this.#monitors.has(at)) this.#monitors.set(at, this.#monitorOf(at))
    for (const subscriber of this.#subscribers) subscriber.locate()
    if (this.#isSharded === undefined && masters.size > 0) void this.#learnRelease()
  }

  #monitorOf(at: string): ConnectionMonitor {
    const beat = async () => {
      const node = this.#nodeAt(at)
      if (node !== undefined) return node.ping()
      this.#refresh()
      throw new Error(`${at} does not accept connections`)
    }
    const reconnect = () => this.#nodeAt(at)?.disconnect()
    const down = (reason: string) => this.#pulsing.down(`${at}: ${reason}`)
    const monitor = new ConnectionMonitor({ beat, reconnect }, { ...this.#pulsing, down })
    void monitor.beat()
    return monitor
  }

  /** All processes of an installation use the same channels, because they decide by the same servers. */
  async #learnRelease(): Promise<void> {
    try {
      const infos = await Promise.all(this.client.nodes('master').map((node) => node.info('server')))
      const releases = infos.map((info) => Number(/redis_version:(\d+)/.exec(info)?.[1]))
      if (releases.length > 0) this.#isSharded = Math.min(...releases) >= shardedFrom
    } catch {
      // learnt when the masters are read again
    }
    for (const subscriber of this.#subscribers) subscriber.renew()
  }

  readonly #refresh = (): void => this.client.refreshSlotsCache()

  /** `host:port` of the master of the key's slot. */
  #masterOf(key: string): string | undefined {
    return this.client.slots[new Command('get', [key]).getSlot()]?.[0]
  }

  #nodeAt(at: string | undefined): Redis | undefined {
    return this.client.nodes('master').find(({ options: { host, port } }) => `${host}:${port}` === at)
  }

  #nodeAddress(at: string | undefined): HostPort | undefined {
    const { host, port } = this.#nodeAt(at)?.options ?? {}
    return host === undefined || port === undefined ? undefined : { host, port }
  }
}

const mastersOf = (slots: readonly (readonly string[] | undefined)[]): ReadonlySet<string> => {
  const masters = new Set<string>()
  for (const servers of slots) if (servers?.[0] !== undefined) masters.add(servers[0])
  return masters
}
