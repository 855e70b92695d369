import type { Commit, JsonObject } from '#storage/ports.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import type { Delivered, Delivery } from '../resident.ts'
import type { Owner } from '../step/actor-state.ts'
import type { FeedState } from './feed.ts'

/** A request of one process to another that runs an actor. Every one may be sent again: what was done is not done twice. */
export type PeerRequest =
  | {
      readonly kind: 'deliver'
      readonly actor: string
      readonly delivery: Pick<Delivery, 'event' | 'stored' | 'cause'>
      /** The requesting process, when it will follow the actor's log. */
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
      /** It may have been made before and removed since (`Creation`). */
      readonly again?: boolean
    }
  /** Resolves when what the actor has sent is taken, and, for an actor that is being made, when it is there. */
  | { readonly kind: 'delivered'; readonly actor: string }
  /** To an effect of the actor that runs now. It keeps what it was given by an id, where it must not do it twice. */
  | { readonly kind: 'question'; readonly actor: string; readonly question: JsonObject }
  /** Resolves when the list rows of everything that was acknowledged are written. */
  | { readonly kind: 'rows' }
  /** The process follows these actors' logs for the next seconds. */
  | { readonly kind: 'follow'; readonly actors: readonly string[]; readonly follower: string }

/** What the other process answers. */
export type PeerAnswer =
  | {
      readonly kind: 'told'
      readonly commit: Commit | null
      readonly duplicate: boolean
      /** How far the actor is, for one that will follow its log. */
      readonly standing?: FeedState
    }
  | { readonly kind: 'done' }
  /** What an effect answers; null when none of the actor does. */
  | { readonly kind: 'said'; readonly said: JsonObject | null }
  /** It does not run the actor (any more): look again who does. Nothing was done. */
  | { readonly kind: 'elsewhere' }

/** Sends requests to another process. */
export interface Peers {
  /**
   * @param address `host:port`, from its lease.
   * @throws {PeerGone} when no process listens there; nothing was done.
   * @throws {PeerSilent} when the process says nothing any more; it may have been done.
   * @throws {StoreUnavailable} when the answer was lost or the other one's store is away; it may have been done.
   * @throws {ServiceError} what the other process refused with.
   */
  request(address: string, request: PeerRequest): Promise<PeerAnswer>
  /** Calls `listener` with the address of a connection that broke and was not closed here. */
  onLost?(listener: (address: string) => void): void
}

/** Answers requests of other processes. Throws what `Peers.request` is to throw there. */
export type PeerService = (request: PeerRequest) => Promise<PeerAnswer>

/** No process listens at the address: the process has ended. Nothing was done. */
export class PeerGone extends StoreUnavailable {}

/** The process says nothing, and nothing refuses either: it stands still, or no byte gets to it or back. */
export class PeerSilent extends StoreUnavailable {
  /** For how long, in ms. */
  readonly forMs: number

  constructor(forMs: number) {
    super('the peer says nothing')
    this.forMs = forMs
  }
}

/** What an answer to a delivery says to a caller of `deliver`. */
export const deliveredOf = ({ commit, duplicate }: PeerAnswer & { kind: 'told' }): Delivered => ({
  commit,
  duplicate,
})
