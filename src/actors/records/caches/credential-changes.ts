import { type Clock, newId } from '#runtime/index.ts'
import type { FanOut } from '#storage/index.ts'

export interface CredentialChangesParts {
  readonly clock: Pick<Clock, 'after'>
  /** Notifies other nodes; absent when this is the only process. */
  readonly fanOut?: Pick<FanOut, 'announce' | 'subscribe'> | undefined
}

interface Round {
  /** Whether other nodes are notified. */
  readonly announce: boolean
}

const topic = 'credentials-changed'

/** Shortest time in ms between two notices: a client that deletes a thousand tenants causes four rounds a second. */
const pauseMs = 250

/**
 * Notifies the caches of credentials and the open streams, on every node, that a credential has ended or changed: a key
 * was revoked, a member removed, a tenant suspended or deleted. A notice that another node misses is made up for by the
 * age of its caches and the checks of its streams.
 */
export class CredentialChanges {
  readonly #parts: CredentialChangesParts
  /** Identifies this node in its notices, which come back to it. */
  readonly #self = newId('cch')
  readonly #listeners: (() => void)[] = []
  /** The pause after a round, with the one that is due after it; null outside of one. */
  #pause: { due: Round | null } | null = null

  constructor(parts: CredentialChangesParts) {
    this.#parts = parts
    parts.fanOut?.subscribe(topic, ({ from }) => {
      if (from !== this.#self) this.#round({ announce: false })
    })
  }

  /** Registers a listener for the life of the process. Those registered first, the caches, are called first. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Must be called after the change is durable. */
  changed(): void {
    this.#round({ announce: true })
  }

  #round({ announce }: Round): void {
    if (this.#pause !== null) {
      this.#pause.due = { announce: announce || this.#pause.due?.announce === true }
      return
    }
    const pause: { due: Round | null } = { due: null }
    this.#pause = pause
    this.#parts.clock.after(pauseMs, () => {
      this.#pause = null
      if (pause.due !== null) this.#round(pause.due)
    })
    for (const listener of this.#listeners) listener()
    if (announce) this.#parts.fanOut?.announce(topic, { from: this.#self })
  }
}
