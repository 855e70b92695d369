import { setTimeout as pause } from 'node:timers/promises'
import { Random } from '#test/simulation/world/random.ts'
import { type ClientParts, NodeClient } from './node-client.ts'
import type { Problem } from './verdict.ts'

const everyMs = 2000
/** Number of decisions above which the runtime parks too easily. */
const maxRetried = 2

/**
 * What an operator does after an outage: retries once what is parked because its processes ended while it ran. Several
 * kills in a row look like an effect that ends its process (specs/decisions/0091-stuck-work.md), and a person decides.
 */
export class Operator {
  readonly #client: NodeClient
  readonly #say: (line: string) => void
  readonly #retried = new Set<string>()
  readonly #stopped = new AbortController()
  #watching: Promise<void> = Promise.resolve()

  constructor(parts: ClientParts, say: (line: string) => void) {
    this.#client = new NodeClient(parts, new Random('operator'))
    this.#say = say
  }

  /** What an operator would complain of. */
  get problems(): readonly Problem[] {
    const { size } = this.#retried
    return size > maxRetried ? [{ kind: 'broken', what: `${size} actors were parked by kills from outside` }] : []
  }

  start(): void {
    // what it did not decide is found by the verdict
    this.#watching = this.#watch().catch((error: unknown) => this.#say(`the operator ended: ${error}`))
  }

  /** Resolves when no decision is under way. */
  stop(): Promise<void> {
    this.#stopped.abort()
    return this.#watching
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      for (const { id, reason } of await this.#parked()) await this.#retry(id, reason)
      await pause(everyMs, undefined, { signal }).catch(() => undefined)
    }
  }

  #parked(): Promise<readonly { readonly id: string; readonly reason: string }[]> {
    const wanted = { method: 'GET', path: '/v1/stuck?kind=parked_actor&limit=100' } as const
    return this.#client.json(wanted, ({ data }) =>
      (Array.isArray(data) ? data : [])
        .map((each) => ({ id: String(each.id), reason: String(each.reason) }))
        .filter(({ id }) => !this.#retried.has(id)),
    )
  }

  async #retry(id: string, why: string): Promise<void> {
    this.#retried.add(id)
    const body = { reason: 'Its processes were killed from outside.' }
    await this.#client.json({ method: 'POST', path: `/v1/stuck/${id}/retry`, body, key: `retry-${id}` }, () => null)
    this.#say(`an operator retries ${id}: ${why}`)
  }
}
