import type { Agent } from 'undici'
import { undici } from '#outgoing/undici.ts'
import { defaultCallPolicy } from '../call/call-policy.ts'
import type { SyncedModel } from './kinds.ts'
import type { Endpoint } from './managed-providers.ts'
import { listModels } from './upstream/upstream-models.ts'

/** Age in ms after which the list is requested again, in the background of a read. */
const staleMs = 5 * 60_000
/** Time in ms until the next request after a failed one. */
const troubledMs = 30_000
/** Maximum time in ms that the first reader waits. */
const timeoutMs = 3000

/**
 * Models listed by the installation's OpenAI-compatible server. A failed request leaves the list unchanged. No request
 * is sent before the first read.
 */
export class ManagedList {
  readonly #endpoint: Endpoint | null
  readonly #now: () => number
  #agent: Agent | null = null
  #models: readonly SyncedModel[] = []
  #nextAt = 0
  #refreshing: Promise<readonly SyncedModel[]> | null = null

  constructor(endpoint: Endpoint | null, now: () => number) {
    this.#endpoint = endpoint
    this.#now = now
  }

  readonly models = async (): Promise<readonly SyncedModel[]> => {
    if (this.#endpoint === null || this.#now() < this.#nextAt) return this.#models
    this.#refreshing ??= this.#refresh(this.#endpoint).finally(() => {
      this.#refreshing = null
    })
    return this.#models.length > 0 ? this.#models : this.#refreshing
  }

  async close(): Promise<void> {
    await this.#agent?.destroy()
  }

  async #refresh(endpoint: Endpoint): Promise<readonly SyncedModel[]> {
    this.#agent ??= openAgent()
    const found = await listModels({ dispatcher: this.#agent, timeoutMs }, endpoint)
    if (found.ok) this.#models = found.models
    this.#nextAt = this.#now() + (found.ok ? staleMs : troubledMs)
    return this.#models
  }
}

/** HTTP/1.1 only: there an abort closes the socket. */
const openAgent = (): Agent =>
  new (undici().Agent)({ allowH2: false, connect: { timeout: defaultCallPolicy.connectTimeoutMs } })
