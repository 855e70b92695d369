import type { LiveCall } from './live-call.ts'

/** Maximum number of calls that one process holds open for an answer, and for how long, in ms. */
const heldCallLimits = { max: 200, ms: 4 * 60_000 } as const

interface Held {
  readonly call: LiveCall
  readonly timer: NodeJS.Timeout
}

/**
 * Calls whose server waits for an answer on the connection of the call. They are held for a limited time. After it, the
 * request for input is cancelled at the server, and the call is repeated once there is an answer.
 */
export class HeldCalls {
  readonly #held = new Map<string, Held>()
  readonly #limits: { readonly max: number; readonly ms: number }

  constructor(limits: { readonly max: number; readonly ms: number } = heldCallLimits) {
    this.#limits = limits
  }

  /** Holds the call of an action, replacing an earlier one. */
  keep(actionId: string, call: LiveCall): void {
    this.release(actionId)
    if (this.#held.size >= this.#limits.max) return void call.end()
    const timer = setTimeout(() => this.release(actionId), this.#limits.ms)
    timer.unref()
    this.#held.set(actionId, { call, timer })
    void call.ended.then(() => this.#forget(actionId, call))
  }

  /** Removes and returns the call of an action if its server still waits for this answer; null otherwise. */
  take(actionId: string, hash: string): LiveCall | null {
    const held = this.#held.get(actionId)
    if (held === undefined) return null
    this.#forget(actionId, held.call)
    if (held.call.waitsFor(hash)) return held.call
    void held.call.end()
    return null
  }

  /** Ends the call of an action, which will not be answered. */
  release(actionId: string): void {
    const held = this.#held.get(actionId)
    if (held === undefined) return
    this.#forget(actionId, held.call)
    void held.call.end()
  }

  /** Ends all calls. */
  async close(): Promise<void> {
    const calls = [...this.#held.values()].map(({ call }) => call)
    for (const id of [...this.#held.keys()]) this.release(id)
    await Promise.all(calls.map(({ ended }) => ended))
  }

  #forget(actionId: string, call: LiveCall): void {
    const held = this.#held.get(actionId)
    if (held?.call !== call) return
    clearTimeout(held.timer)
    this.#held.delete(actionId)
  }
}
