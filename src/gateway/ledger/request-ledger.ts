import type { Logger } from 'pino'
import type { Clock } from '#runtime/index.ts'
import type { RecordStore } from '#storage/index.ts'
import type { CallLedger, GatewayCall } from '../call/accounting/call-ledger.ts'
import { CallGatherer, type GathererParts } from './call-gatherer.ts'
import { ledgerRecords } from './ledger-records.ts'
import { SegmentExpander } from './segment-expander.ts'

export interface RequestLedgerParts {
  /** The underlying store. */
  readonly records: RecordStore
  /** `GathererParts.syncBlocks`. */
  readonly syncBlocks: boolean
  readonly clock: Clock
  readonly log: Logger
}

/** Services of the gateway that the ledger uses; they exist only after the gateway is opened. */
export type LedgerRules = Pick<GathererParts, 'settings' | 'redaction' | 'beforeWrite'>

/** Maximum time in ms that a shutdown waits for an unavailable store. */
const stopPatienceMs = 5_000

/**
 * Usage and request log of the gateway (specs/decisions/0086-metering-and-limits.md). Calls are collected into
 * segments, from which the rows for lists and sums are derived. Readers of these rows must use `records`.
 */
export class RequestLedger implements CallLedger {
  /** The store, including rows that have not been derived from segments yet. */
  readonly records: RecordStore
  readonly #gatherer: CallGatherer
  readonly #expander: SegmentExpander
  readonly #clock: Clock
  #rules: LedgerRules | undefined

  constructor({ records, syncBlocks, clock, log }: RequestLedgerParts) {
    this.#clock = clock
    this.#expander = new SegmentExpander({ records, clock, log, lastCallAt: () => this.#gatherer.lastAt })
    this.#gatherer = new CallGatherer({
      records,
      syncBlocks,
      clock,
      log,
      settings: { of: (project) => this.#known().settings.of(project) },
      redaction: { forLog: (body) => this.#known().redaction.forLog(body) },
      beforeWrite: () => this.#known().beforeWrite(),
      written: (segment) => this.#expander.wrote(segment),
    })
    const flush = () => this.flush()
    this.records = ledgerRecords({ records, clock, flush, expander: this.#expander })
  }

  /** Starts recording, and processes what an earlier process left. */
  start(rules: LedgerRules): void {
    this.#rules = rules
    this.#expander.start()
  }

  record(call: GatewayCall): void {
    this.#gatherer.record(call)
  }

  flush(): Promise<void> {
    return this.#gatherer.flush()
  }

  /**
   * Waits until everything recorded is durable, unless the store is unavailable for too long. The next start derives
   * the remaining rows.
   */
  async stop(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#clock.after(stopPatienceMs, late.resolve)
    await Promise.race([this.flush(), late.promise])
    cancel()
    await this.#expander.stop()
  }

  /**
   * For /metrics: number of calls that were recorded, and of those lost because the store was unavailable for too long.
   */
  get counts(): { readonly taken: number; readonly dropped: number } {
    const { taken, dropped } = this.#gatherer
    return { taken, dropped }
  }

  #known(): LedgerRules {
    if (this.#rules === undefined) throw new Error('a call was recorded before the ledger began')
    return this.#rules
  }
}
