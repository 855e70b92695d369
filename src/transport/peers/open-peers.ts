import type { Logger } from 'pino'
import { type Clock, systemClock } from '#runtime/index.ts'
import type { Peers } from '#runtime/internal.ts'
import { StoreUnavailable } from '#storage/index.ts'
import { PeerPace } from './heartbeat.ts'
import { addressOf } from './host-port.ts'
import { PeerConnection } from './peer-connection.ts'

/** Maximum number of remembered paces, far more than a cluster has processes. Forgotten ones are measured again. */
const maxPaces = 1_000

/** Options of the requesting side. */
export interface PeersOptions {
  /** The same on all nodes; derived from the master key. */
  readonly key: Uint8Array
  /** Keys derived from earlier or later master keys, as on the serving side. */
  readonly otherKeys?: readonly Uint8Array[]
  readonly log: Logger
  readonly clock?: Clock
  /** Returns the `traceparent` of the current span, which requests carry; absent: none do. */
  readonly trace?: (() => string | null) | undefined
}

/**
 * Sends requests to other processes over TLS: one connection per process, opened by the first request and kept
 * (specs/decisions/0062-peers.md).
 */
export const openPeers = ({ clock = systemClock, ...options }: PeersOptions): Peers & { close(): void } => {
  const connections = new Map<string, PeerConnection>()
  const listeners: ((address: string) => void)[] = []
  // also holds addresses of processes that have ended
  const paces = new Map<string, PeerPace>()
  let closed = false
  const connected = (address: string): PeerConnection | undefined => {
    const known = connections.get(address)
    if (known !== undefined) return known
    const place = addressOf(address)
    if (place === undefined) return undefined
    if (paces.size >= maxPaces) paces.clear()
    const pace = paces.get(address) ?? new PeerPace(clock)
    paces.set(address, pace)
    const made: PeerConnection = new PeerConnection(place, { ...options, clock, pace }, (wasReady) => {
      if (connections.get(address) === made) connections.delete(address)
      if (wasReady && !closed) for (const listener of listeners) listener(address)
    })
    connections.set(address, made)
    return made
  }
  return {
    request: (address, request, signal) => {
      const connection = closed ? undefined : connected(address)
      return connection?.request(request, signal) ?? Promise.reject(new StoreUnavailable(`no way to ${address}`))
    },
    onLost: (listener) => {
      listeners.push(listener)
    },
    /** Fails the open requests and refuses later ones. */
    close: () => {
      closed = true
      for (const connection of [...connections.values()]) connection.close()
    },
  }
}
