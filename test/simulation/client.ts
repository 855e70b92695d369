import type { Idempotency } from '#actors/call/call.ts'
import { errors, ServiceError } from '#specs/errors/errors.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import type { Ledger } from './ledger.ts'
import { Reader } from './sessions/stream-client.ts'
import type { Cluster } from './world/cluster.ts'
import type { Identity } from './world/identities.ts'
import type { Node, Server } from './world/node.ts'
import type { Random } from './world/random.ts'
import type { Scheduler } from './world/scheduler.ts'
import { ConnectionLost } from './world/sim-process.ts'

/** What every client of a simulation shares. */
export interface ClientParts {
  readonly cluster: Cluster
  readonly scheduler: Scheduler
  readonly random: Random
  readonly ledger: Ledger
  readonly note: (text: string) => void
}

/** What a request does in the process. */
export type Work<T> = (server: Server, node: Node, waited: () => boolean) => Promise<T>

/** How often a request is sent again: for longer than any fault of a run lasts. */
const maxAttempts = 150

/** A client that sends each request until it is answered, and again after a retryable error. */
export class Client {
  readonly identity: Identity
  readonly name: string
  readonly parts: ClientParts
  #keys = 0

  constructor(name: string, identity: Identity, parts: ClientParts) {
    this.name = name
    this.identity = identity
    this.parts = parts
  }

  /** A new Idempotency-Key, as the transport passes it on. */
  key(): Idempotency {
    const cause = `idem:${this.name}.${++this.#keys}`
    return { cause, fingerprint: cause, seed: null }
  }

  reader(session: string, last: number | null): Reader {
    return new Reader(session, last, { ...this.parts, name: this.name })
  }

  /**
   * Calls until there is an answer. `work` runs in the process; `waited` says whether the client still waits for this
   * attempt, and has not sent another.
   *
   * @returns the answer, or the code of the refusal.
   */
  async received<T>(what: string, work: Work<T>): Promise<{ value: T } | { code: string }> {
    const { cluster, scheduler, random, note, ledger } = this.parts
    let requestCount = 0
    for (let tried = 0; tried < maxAttempts; tried++) {
      const attempt = ++requestCount
      try {
        const value = await cluster.call((server, node) => work(server, node, () => attempt === requestCount))
        note(`${this.name} ${what}: done`)
        return { value }
      } catch (error) {
        if (isRefusal(error)) {
          note(`${this.name} ${what}: ${error.code}`)
          return { code: error.code }
        }
        if (!isTrouble(error)) ledger.broken(`${this.name} ${what}: ${stackOf(error)}`)
        await scheduler.pause(random.between(20, 800))
      }
    }
    ledger.broken(`${this.name} ${what}: no answer`)
    return { code: 'none' }
  }
}

const isRefusal = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && errors[error.code].status < 500 && error.code !== 'idempotency_in_progress'

const isTrouble = (error: unknown): boolean =>
  error instanceof StoreUnavailable ||
  error instanceof ConnectionLost ||
  (error instanceof ServiceError && error.code !== 'internal_error')

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))
