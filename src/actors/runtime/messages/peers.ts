import type { Commit, JsonObject } from '#storage/ports.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import type { Delivered, Delivery } from '../resident.ts'
import type { Owner } from '../step/actor-state.ts'
import type { FeedState } from './feed.ts'

/** A request from one process to another that runs an actor. All requests are idempotent and may be sent again. */
export type PeerRequest =
  | {
      readonly kind: 'deliver'
      readonly actor: string
      readonly delivery: Pick<Delivery, 'event' | 'stored' | 'cause'>
      /** Id of the requesting process, if it will follow the actor's log. */
      readonly follower?: string
    }
  | {
      readonly kind: 'create'
      /** Name of the machine. */
      readonly machine: string
      readonly actor: string
      readonly owner: Owner
      readonly input: JsonObject
      readonly cause: string
      /** The actor may have been created before and erased since (`Creation`). */
      readonly again?: boolean
    }
  /** Resolves when the actor's messages are delivered and, for an actor that is being created, when it exists. */
  | { readonly kind: 'delivered'; readonly actor: string }
  /** A question to a running effect of the actor. An effect that must not act on it twice remembers it by an id. */
  | { readonly kind: 'question'; readonly actor: string; readonly question: JsonObject }
  /** Work of a service that each process has (`PlacedWork`). It changes nothing stored. `key` null: each process does it. */
  | { readonly kind: 'task'; readonly service: string; readonly key: string | null; readonly input: JsonObject }
  /** Resolves when the list rows of everything that was acknowledged are written. */
  | { readonly kind: 'rows' }
  /** The requesting process follows these actors' logs for the next seconds. */
  | { readonly kind: 'follow'; readonly actors: readonly string[]; readonly follower: string }

/** The answer of the other process. */
export type PeerAnswer =
  | {
      readonly kind: 'told'
      readonly commit: Commit | null
      readonly duplicate: boolean
      /** State of the actor's log, for a requester that will follow it. */
      readonly standing?: FeedState
    }
  | { readonly kind: 'done' }
  /** The answer of an effect or a service; null when no effect of the actor answers, or the service is unknown. */
  | { readonly kind: 'said'; readonly said: JsonObject | null }
  /** The process does not run the actor (any more); look up the owner again. Nothing was done. */
  | { readonly kind: 'elsewhere' }

/** Sends requests to another process. */
export interface Peers {
  /**
   * @param address `host:port`, from its lease.
   * @param signal ends the wait: the other process is notified, and the request rejects with its reason.
   * @throws {PeerGone} when no process listens there; nothing was done.
   * @throws {PeerSilent} when the process does not respond; the request may have been carried out.
   * @throws {StoreUnavailable} when the answer was lost or the other process's store is unavailable; the request may
   *   have been carried out.
   * @throws {RefusedError} what the other process refused with.
   */
  request(address: string, request: PeerRequest, signal?: AbortSignal): Promise<PeerAnswer>
  /** Calls `listener` with the address of a connection that broke, that is, was not closed by this process. */
  onLost?(listener: (address: string) => void): void
}

/**
 * Answers requests of other processes. What it throws, `Peers.request` throws on the other side. `signal` aborts when the
 * other process does not wait any more.
 */
export type PeerService = (request: PeerRequest, signal?: AbortSignal) => Promise<PeerAnswer>

/** No process listens at the address: the process has ended. Nothing was done. */
export class PeerGone extends StoreUnavailable {}

/**
 * The process does not respond, and the connection is not refused either: it is stalled, or the network drops packets.
 */
export class PeerSilent extends StoreUnavailable {
  /** How long it has not responded, in ms. */
  readonly forMs: number

  constructor(forMs: number) {
    super('the peer says nothing')
    this.forMs = forMs
  }
}

/** Converts a peer's answer to a delivery into the result of `deliver`. */
export const deliveredOf = (answer: PeerAnswer): Delivered => {
  if (answer.kind !== 'told') throw new Error(`a peer answers ${answer.kind} to a delivery`)
  return { commit: answer.commit, duplicate: answer.duplicate }
}
