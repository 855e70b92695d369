import { Redis, type RedisOptions } from 'ioredis'
import { ConnectionMonitor, type PulseOptions } from './connection-monitor.ts'

/** A connection with its pulse. */
export interface Connection {
  readonly client: Redis
  readonly pulse: ConnectionMonitor
  /** Message of the connection's last error. */
  reason(): string
  close(): void
}

const options: Omit<RedisOptions, 'replyMapping'> = {
  // no command waits for an unavailable server, and none is executed late when it is back
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  // open commands are rejected when the connection is lost; with any other number they would never be settled
  maxRetriesPerRequest: 0,
  connectTimeout: 1_000,
  connectionName: 'troupe',
  retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000),
}

/**
 * Opens a connection that reconnects forever; never throws.
 *
 * @param beat checks that the connection works for its purpose.
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
  const pulse = new ConnectionMonitor({ beat: () => beat(client), reconnect: () => client.disconnect(true) }, pulsing)
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
