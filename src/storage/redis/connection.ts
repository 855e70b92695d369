import { Redis, type RedisOptions } from 'ioredis'
import { Pulse, type PulseOptions } from './pulse.ts'

/** A connection, and whether it answers. */
export interface Connection {
  readonly client: Redis
  readonly pulse: Pulse
  /** The last error of the connection, in words. */
  reason(): string
  close(): void
}

const options: Omit<RedisOptions, 'replyMapping'> = {
  // nothing waits for a server that is away, and nothing is done late when it is back
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  // open commands are refused when the connection is lost; with any other number it would never be answered
  maxRetriesPerRequest: 0,
  connectTimeout: 1_000,
  connectionName: 'troupe',
  retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000),
}

/**
 * Connects, and again for ever; resolves nothing and throws nothing.
 *
 * @param beat what proves that the connection does what it is there for.
 */
export const openConnection = (
  url: string,
  pulsing: PulseOptions,
  {
    beat,
    more = {},
  }: { readonly beat: (client: Redis) => Promise<unknown>; readonly more?: Omit<RedisOptions, 'replyMapping'> },
): Connection => {
  const client = new Redis(url, { ...options, ...more })
  const pulse = new Pulse({ beat: () => beat(client), reconnect: () => client.disconnect(true) }, pulsing)
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
  return { client, pulse, reason: () => reason, close }
}
