import { orNotFound } from '#actors/call/not-found.ts'
import { statusOf } from '#machines/index.ts'
import type { MemoryWriteContext } from '#machines/memory-write/memory-write.ts'
import { memoryWriteDefinition } from '#machines/memory-write/memory-write-definition.ts'
import { type Clock, contextOf, pause, storedState } from '#runtime/index.ts'
import type { Host } from '#runtime/internal.ts'
import type { Status } from '#specs/statuses.ts'
import type { JsonObject, Scope } from '#storage/index.ts'
import type { MemoryOwner } from '../memory-owner.ts'

export interface MemoryWritesParts {
  readonly host: Pick<Host, 'create' | 'find'>
  readonly clock: Clock
}

/** State of a write. */
export interface WriteReceipt {
  readonly status: Status<'memory_write'>
  readonly context: MemoryWriteContext
}

/** A write to start. */
export interface NewWrite {
  readonly id: string
  readonly exchange: JsonObject
  readonly source: string
  /** Cause of the write; a second write with the same cause starts nothing. */
  readonly cause: string
}

/** Polling of a write's state by a waiting request: first interval, longest interval and total time, in ms. */
const firstPollMs = 5
const maxPollMs = 100
const patienceMs = 60_000

/** Writes of exchanges. Each is an actor, which is also its own receipt. */
export class MemoryWrites {
  readonly #parts: MemoryWritesParts

  constructor(parts: MemoryWritesParts) {
    this.#parts = parts
  }

  /** @throws {StoreUnavailable} */
  async start({ project, tenant, user }: MemoryOwner, { id, exchange, source, cause }: NewWrite): Promise<void> {
    const owner = { project, tenant, user, createdAt: this.#parts.clock.now() }
    const input = { write_id: id, exchange, source }
    await this.#parts.host.create({ kind: memoryWriteDefinition, id, owner, input, cause })
  }

  /** @throws {ServiceError} `not_found`, also for a write outside of the scope. */
  async receipt(scope: Scope, id: string): Promise<WriteReceipt> {
    const { state } = await this.#parts.host.find(scope, memoryWriteDefinition, id)
    const stored = storedState(state.snapshot)
    const status = orNotFound(statusOf(memoryWriteDefinition, stored))
    return { status, context: contextOf(memoryWriteDefinition, stored) }
  }

  /** Returns the receipt once the write has ended or an attempt has failed, or its current state after a minute. */
  async settled(scope: Scope, id: string): Promise<WriteReceipt> {
    const { clock } = this.#parts
    const until = clock.steady() + patienceMs
    for (let waitMs = firstPollMs; ; waitMs = Math.min(waitMs * 1.5, maxPollMs)) {
      const receipt = await this.receipt(scope, id)
      if (receipt.status !== 'pending' || receipt.context.attempts > 0 || clock.steady() > until) return receipt
      await pause(clock, waitMs)
    }
  }
}
