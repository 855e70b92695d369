import type { Redis } from 'ioredis'
import type { HostPort } from '../addresses/redis-address.ts'
import { ConnectionMonitor, type MonitoredConnection, type PulseOptions } from './connection-monitor.ts'

/** Options of a subscriber: its pulse, and its channels. */
export interface SubscriberOptions extends PulseOptions {
  /** A channel; in a cluster, all others are in its slot. */
  readonly channel: string
  /** Channels that must be subscribed to. */
  readonly channels: () => Iterable<string>
  readonly heard: (channel: string, message: string) => void
}

/** Where a subscriber of a cluster connects to. */
export interface Shard {
  /** The master of the channels' slot; undefined while it is unknown. */
  readonly master: () => HostPort | undefined
  /** Whether the cluster has sharded channels; undefined while that is unknown. */
  readonly isSharded: () => boolean | undefined
  /** Reads the masters again. */
  readonly search: () => void
}

/** Monitors a client. @param beat checks that the connection works for its purpose. */
export const monitored = (client: Redis, pulsing: PulseOptions, beat: MonitoredConnection['beat']) => {
  const pulse = new ConnectionMonitor({ beat, reconnect: () => client.disconnect(true) }, pulsing)
  let reason = 'it does not answer'
  client.on('error', (error: Error) => {
    reason = error.message
  })
  client.on('ready', () => void pulse.beat())
  client.on('close', () => pulse.lost(reason))
  const close = (): void => {
    pulse.close()
    client.disconnect()
  }
  return { pulse, reason: () => reason, close }
}

/** Receives messages over a client of its own. It subscribes again by itself whenever the connection was lost. */
export class Subscriber {
  readonly close: () => void
  readonly #client: Redis
  readonly #options: SubscriberOptions
  readonly #shard: Shard | undefined
  readonly #pulse: ConnectionMonitor
  /** Channels that the current connection is subscribed to. */
  readonly #subscribed = new Set<string>()

  constructor(client: Redis, options: SubscriberOptions, shard?: Shard) {
    this.#client = client
    this.#options = options
    this.#shard = shard
    const { pulse, close } = monitored(client, options, () => this.#subscribe())
    this.#pulse = pulse
    this.close = close
    client.on('close', () => this.#subscribed.clear())
    client.on('message', options.heard)
    client.on('smessage', options.heard)
  }

  get up(): boolean {
    return this.#pulse.up
  }

  /** Subscribes to channels that are new. */
  renew(): void {
    void this.#pulse.beat()
  }

  /** Connects to the master of its slot, if that is another one now. */
  locate(): void {
    const master = this.#shard?.master()
    const { options } = this.#client
    if (master === undefined || (master.host === options.host && master.port === options.port)) return
    // the client reads them when it connects
    Object.assign(options, master)
    this.#client.disconnect(true)
  }

  async #subscribe(): Promise<unknown> {
    const channels = [...this.#options.channels()]
    if (this.#shard === undefined) return this.#subscribeOnce(channels)
    const isSharded = this.#shard.isSharded()
    if (isSharded === undefined) throw new Error('the cluster does not answer')
    if (!isSharded || channels.length === 0) return this.#subscribeOnce(channels)
    try {
      // each time: a server that has lost the slot refers to another one
      return await this.#client.ssubscribe(...channels)
    } catch (error) {
      this.#shard.search()
      throw error
    }
  }

  async #subscribeOnce(channels: readonly string[]): Promise<unknown> {
    const missing = channels.filter((channel) => !this.#subscribed.has(channel))
    if (missing.length > 0) await this.#client.subscribe(...missing)
    for (const channel of missing) this.#subscribed.add(channel)
    return this.#client.ping()
  }
}
