import type { Logger } from 'pino'
import { type Clock, systemClock } from '#runtime/clock.ts'
import type { Peers } from '#runtime/messages/peers.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { PeerPace } from './heartbeat.ts'
import { addressOf } from './host-port.ts'
import { PeerConnection } from './peer-connection.ts'

/** A cluster has far fewer processes; what is forgotten is found out again. */
const mostPaces = 1_000

/** What the requesting side is made of. */
export interface PeersOptions {
  /** The same on all nodes; derived from the master key. */
  readonly key: Uint8Array
  /** As the answering side has them. */
  readonly otherKeys?: readonly Uint8Array[]
  readonly log: Logger
  readonly clock?: Clock
}

/** Sends requests to other processes over TLS: one connection each, made by the first question and kept (specs/decisions/0062-peers.md). */
export const openPeers = ({ clock = systemClock, ...options }: PeersOptions): Peers & { close(): void } => {
  const connections = new Map<string, PeerConnection>()
  const listeners: ((address: string) => void)[] = []
  // for addresses of processes that ended too
  const paces = new Map<string, PeerPace>()
  let closed = false
  const connected = (address: string): PeerConnection | undefined => {
    const known = connections.get(address)
    if (known !== undefined) return known
    const place = addressOf(address)
    if (place === undefined) return undefined
    if (paces.size >= mostPaces) paces.clear()
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
    request: (address, request) => {
      const connection = closed ? undefined : connected(address)
      return connection?.request(request) ?? Promise.reject(new StoreUnavailable(`no way to ${address}`))
    },
    onLost: (listener) => {
      listeners.push(listener)
    },
    /** Open questions are lost, and later ones refused. */
    close: () => {
      closed = true
      for (const connection of [...connections.values()]) connection.close()
    },
  }
}
