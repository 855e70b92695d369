import { StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock } from '../clock.ts'
import { Superseded } from '../commit/superseded.ts'
import { type PeerAnswer, PeerGone, type PeerRequest, PeerSilent, type Peers } from '../messages/peers.ts'
import type { HeldShards } from './held-shards.ts'
import type { LeaseView, ShardOwner } from './lease-view.ts'

/** How long a request waits for an actor that is moving between two processes, in ms. */
const patienceMs = 5000
/** How long it waits when the store fails, in ms: it gets 503 within a second, as with a single process. */
const storePatienceMs = 600
const firstPauseMs = 20
const maxPauseMs = 250

/** Dependencies of `Router`. */
export interface RouterParts {
  readonly held: HeldShards
  readonly view: LeaseView
  readonly peers: Peers
  readonly clock: Clock
  /** Whether the lease store did not answer the last time. */
  readonly storeFails: () => boolean
  /** Requests a read of the leases, because something has changed, or seems to have. */
  readonly doubt: () => void
}

/** One request: carried out here, or sent to another process. */
export interface Routed<T> {
  /** Carries it out in this process. @throws {Superseded} when another process runs the actor. */
  readonly here: () => Promise<T>
  readonly request: () => PeerRequest
  readonly answered: (answer: PeerAnswer) => T
}

interface Found<T> {
  readonly value: T
}

/** Routes a request to the process that currently runs the actor; it may be sent more than once. */
export class Router {
  readonly #parts: RouterParts

  constructor(parts: RouterParts) {
    this.#parts = parts
  }

  /**
   * Carries a request out where the actor runs, and retries while the actor is moving.
   *
   * @throws {StoreUnavailable} when no process has run the actor for some seconds, or the store is unavailable.
   */
  async route<T>(actor: string, { here, request, answered }: Routed<T>): Promise<T> {
    const { clock, doubt } = this.#parts
    const shard = this.#parts.held.space.of(actor)
    const startedAt = clock.steady()
    for (let attempt = 0; ; attempt++) {
      const found = (await this.#try(shard, here)) ?? (await this.#requestOwner(shard, request, answered))
      if (found !== undefined) return found.value
      this.#checkPatience(shard, clock.steady() - startedAt)
      doubt()
      await this.#pause(shard, backoffMs(attempt, firstPauseMs, maxPauseMs))
    }
  }

  /** Sends a request that any process can answer. */
  request(owner: ShardOwner, request: PeerRequest, signal?: AbortSignal): Promise<PeerAnswer> {
    return this.#parts.peers.request(owner.address, request, signal).catch((error: unknown) => {
      if (error instanceof PeerGone) this.#refused(owner)
      if (error instanceof PeerSilent) this.#silent(owner, error.forMs)
      throw error
    })
  }

  async #try<T>(shard: number, here: () => Promise<T>): Promise<Found<T> | undefined> {
    if (this.#parts.held.heldUnder(shard) === undefined) return undefined
    try {
      return { value: await here() }
    } catch (error) {
      if (error instanceof Superseded) return undefined
      throw error
    }
  }

  async #requestOwner<T>(
    shard: number,
    request: () => PeerRequest,
    answered: (answer: PeerAnswer) => T,
  ): Promise<Found<T> | undefined> {
    const { held, view, storeFails } = this.#parts
    const owner = held.heldUnder(shard) === undefined ? view.ownerOf(shard) : undefined
    if (owner === undefined || this.#isSilent(owner)) return undefined
    try {
      const answer = await this.#unlessMoved(shard, this.request(owner, request()))
      return answer === undefined || answer.kind === 'elsewhere' ? undefined : { value: answered(answer) }
    } catch (error) {
      const isProcess = error instanceof PeerGone || error instanceof PeerSilent
      if (!(error instanceof StoreUnavailable) || (storeFails() && !isProcess)) throw error
      return undefined
    }
  }

  /** Resolves with the answer, or with undefined if the shard changes its owner first, which then gets the request. */
  #unlessMoved<T>(shard: number, work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const stop = this.#parts.view.onChange(shard, () => resolve(undefined))
      work.then(resolve, reject).finally(stop)
    })
  }

  #pause(shard: number, ms: number): Promise<void> {
    const { clock, view } = this.#parts
    return new Promise((resolve) => {
      const done = (): void => {
        cancel()
        stop()
        resolve()
      }
      const cancel = clock.after(ms, done)
      const stop = view.onChange(shard, done)
    })
  }

  #checkPatience(shard: number, waitedMs: number): void {
    const { held, storeFails } = this.#parts
    const uncertain = held.heldUnder(shard) !== undefined && held.epochOf(shard) === undefined
    if (waitedMs >= storePatienceMs && (uncertain || storeFails())) {
      throw new StoreUnavailable('the store does not say who runs the actor')
    }
    if (waitedMs >= patienceMs) throw new StoreUnavailable('the actor is on its way to another process')
  }

  /**
   * Whether the owner is not to be called now.
   * @throws {StoreUnavailable} when only this process cannot reach it: the caller may try another process.
   */
  #isSilent({ process }: ShardOwner): boolean {
    const silence = this.#parts.view.silenceOf(process)
    if (silence === 'separated')
      throw new StoreUnavailable('the process that runs the actor cannot be reached from here')
    return silence === 'unclear'
  }

  #silent({ process }: ShardOwner, forMs: number): void {
    this.#parts.view.silent(process, forMs)
    this.#parts.doubt()
  }

  #refused(owner: ShardOwner): void {
    this.#parts.view.refused(owner.process)
    this.#parts.doubt()
  }
}
