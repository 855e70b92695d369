import type { GatewayCall } from './call-ledger.ts'

/** The model calls of one line of a batch, which the commit with the line's result meters. */
export class LineCalls {
  readonly #calls: GatewayCall[] = []

  add(call: GatewayCall): void {
    this.#calls.push(call)
  }

  get all(): readonly GatewayCall[] {
    return this.#calls
  }
}
