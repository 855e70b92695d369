import { type Cluster, Redis, type RedisOptions } from 'ioredis'
import type { HostPort, RedisAddress, RedisTarget } from '../addresses/redis-address.ts'
import type { ConnectionMonitor, PulseOptions } from './connection-monitor.ts'
import { monitored, Subscriber, type SubscriberOptions } from './subscriber.ts'

/** A client of a server, of the master that sentinels name, or of a cluster. */
export type RedisClient = Redis | Cluster

/** A connection for commands. Each command has one key, so that all work in a cluster too. */
export interface Connection {
  readonly client: RedisClient
  readonly kind: RedisAddress['kind']
  /** Whether the server answers; in a cluster, every master. */
  readonly up: boolean
  /**
   * Returns the command's answer; undefined when it was not sent because the server of its key is unavailable, was
   * refused, or timed out.
   */
  run<T>(key: string, command: () => Promise<T>): Promise<T | undefined>
  /** Whether the server of a key or channel answers. */
  reaches(key: string): boolean
  /** Publishes a message if the server of the channel is available. */
  publish(channel: string, message: string): void
  /** Opens a connection that receives messages. */
  subscriber(options: SubscriberOptions): Subscriber
  /** What it is connected to, for operators: no secret. */
  description(): string
  /** Message of the connection's last error. */
  reason(): string
  close(): void
}

/** Options of every connection. */
const commonOptions = {
  // no command waits for an unavailable server, and none is executed late when it is back
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  // open commands are rejected when the connection is lost; with any other number they would never be settled
  maxRetriesPerRequest: 0,
  connectTimeout: 1_000,
  // a server that hangs does not answer the end of a connection either
  disconnectTimeout: 50,
  connectionName: 'troupe',
} as const

/** ms before the next attempt to connect. */
export const retryDelay = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 5), 500)

/** Options of a connection to a server with the credentials and certificates of the target. */
export const serverOptions = ({ address, tls }: RedisTarget): Omit<RedisOptions, 'replyMapping'> => ({
  ...commonOptions,
  ...(address.username !== undefined && { username: address.username }),
  ...(address.password !== undefined && { password: address.password }),
  ...(address.isTls && { tls: { ...tls } }),
})

/** Opens a client that reconnects forever to a server, or to the master that the sentinels name; never throws. */
const openClient = (target: RedisTarget, more: Omit<RedisOptions, 'replyMapping'> = {}): Redis => {
  const { address, sentinel = {}, tls } = target
  const [first] = address.hosts
  const common = {
    ...serverOptions(target),
    enableOfflineQueue: false,
    retryStrategy: retryDelay,
    db: address.db,
    ...more,
  }
  if (address.kind === 'server') return new Redis({ ...common, ...first, family: address.family })
  return new Redis({
    ...common,
    sentinels: [...address.hosts],
    name: address.master,
    ...(sentinel.username !== undefined && { sentinelUsername: sentinel.username }),
    ...(sentinel.password !== undefined && { sentinelPassword: sentinel.password }),
    ...(address.isTls && { sentinelTLS: { ...tls }, enableTLSForSentinelMode: true }),
    // a sentinel that announces a new master ends the connection to the previous one, even if that only hangs
    failoverDetector: true,
    sentinelCommandTimeout: 500,
    sentinelReconnectStrategy: () => 1_000,
    sentinelRetryStrategy: retryDelay,
  })
}

/** A connection to a server, or to the master that sentinels name. */
export class ServerConnection implements Connection {
  readonly client: Redis
  readonly reason: () => string
  readonly close: () => void
  readonly #target: RedisTarget
  readonly #pulse: ConnectionMonitor

  constructor(target: RedisTarget, pulsing: PulseOptions) {
    this.#target = target
    this.client = openClient(target, { enableAutoPipelining: true })
    const { pulse, reason, close } = monitored(this.client, pulsing, () => this.client.ping())
    this.#pulse = pulse
    this.reason = reason
    this.close = close
  }

  get kind(): RedisAddress['kind'] {
    return this.#target.address.kind
  }

  get up(): boolean {
    return this.#pulse.up
  }

  run<T>(_key: string, command: () => Promise<T>): Promise<T | undefined> {
    return this.#pulse.run(command)
  }

  reaches(): boolean {
    return this.up
  }

  publish(channel: string, message: string): void {
    if (this.up) this.client.publish(channel, message).catch(() => {})
  }

  subscriber(options: SubscriberOptions): Subscriber {
    return new Subscriber(openClient(this.#target), options)
  }

  description(): string {
    return described(this.#target, this.client, this.up)
  }
}

const described = ({ address }: RedisTarget, client: Redis, isUp: boolean): string => {
  const server = shownHost(address.kind === 'server' ? address.hosts[0] : peerOf(client))
  const what = address.kind === 'server' ? server : `master ${address.master} at ${server}, named by sentinels`
  return `${what}${address.isTls ? ', TLS' : ''}${isUp ? '' : ', does not answer'}`
}

const peerOf = (client: Redis): HostPort | undefined => {
  // no stream exists before the first connection
  const stream: Partial<Pick<Redis['stream'], 'remoteAddress' | 'remotePort'>> | undefined = client.stream
  const { remoteAddress: host, remotePort: port } = stream ?? {}
  return host === undefined || port === undefined ? undefined : { host, port }
}

/** `host:port`. */
export const shownHost = (at: HostPort | undefined): string =>
  at === undefined ? 'an unknown address' : `${at.host.includes(':') ? `[${at.host}]` : at.host}:${at.port}`
