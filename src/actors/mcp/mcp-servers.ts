import { statusOf } from '#machines/index.ts'
import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import type { Scope, StoredEvent } from '#storage/index.ts'
import type { Idempotency } from '../call/call.ts'
import { nullWhenNotFound } from '../call/not-found.ts'
import type { Services } from '../capability/services.ts'
import { newId, pause } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'

/** Maximum time in ms for which a request waits for a discovery. */
const settleMs = 21_000

export type McpServersParts = Pick<Services, 'clock' | 'host'>

/** Remote tool servers, as actors. */
export class McpServers {
  readonly #parts: McpServersParts

  constructor(parts: McpServersParts) {
    this.#parts = parts
  }

  /** Returns a server. @throws {ServiceError} `not_found` */
  find(scope: Scope, id: string): Promise<Resident> {
    return this.#parts.host.find(scope, mcpServerDefinition, id)
  }

  /** Returns a server; null when it does not exist. */
  known(scope: Scope, id: string): Promise<Resident | null> {
    return this.find(scope, id).catch(nullWhenNotFound)
  }

  /** Delivers an event to a server. @throws {ServiceError} when the server's machine refuses the event */
  async give(server: Resident, event: StoredEvent, idempotency: Idempotency | null): Promise<void> {
    await this.#parts.host.deliverTo(server, { event, cause: causeOf(idempotency) })
  }

  /** Returns the server once its discovery has ended, or its current state after `settleMs`. */
  async settled(scope: Scope, id: string): Promise<Resident> {
    const { host, clock } = this.#parts
    const server = await this.find(scope, id)
    if (statusOf(mcpServerDefinition, server.state.snapshot) === 'discovering') {
      const over = Promise.withResolvers<void>()
      const stream = host.feed.follow(server.id, server.state.lastSequence, { at: 'idle', after: () => true })
      const control = stream.start({ push: () => true, end: () => over.resolve() })
      await Promise.race([over.promise, pause(clock, settleMs)])
      control.stop()
    }
    await host.rows.shown()
    return this.find(scope, id)
  }
}

/** Returns the cause of a request. A repeated request has the same cause, so its first commit answers it. */
export const causeOf = (idempotency: Idempotency | null): string => idempotency?.cause ?? newId('req')
