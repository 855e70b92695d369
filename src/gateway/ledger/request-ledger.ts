import type { Logger } from 'pino'
import type { Clock } from '#runtime/clock.ts'
import type { RecordStore } from '#storage/ports.ts'
import type { CallLedger, GatewayCall } from '../call/accounting/call-ledger.ts'
import { CallGatherer, type GathererParts } from './call-gatherer.ts'
import { ledgerRecords } from './ledger-records.ts'
import { SegmentExpander } from './segment-expander.ts'

export interface RequestLedgerParts {
  /** The store itself. */
  readonly records: RecordStore
  /** `GathererParts.syncBlocks`. */
  readonly syncBlocks: boolean
  readonly clock: Clock
  readonly log: Logger
}

/** What it needs to know of projects, which is there only when the rest of the gateway is. */
export interface LedgerRules extends Pick<GathererParts, 'settings' | 'redaction' | 'beforeWrite'> {
  /** Gets each call at once. */
  readonly counted: (call: GatewayCall) => void
}

/** How long a shutdown waits for a store that is away, in ms. */
const stopPatienceMs = 5_000

/**
 * Usage and request log of the gateway (specs/decisions/0086-metering-and-limits.md): calls are gathered into segments,
 * and the rows that lists and sums are made of follow from those. A caller that reads either kind of row reads it through `records`.
 */
export class RequestLedger implements CallLedger {
  /** The store, with the rows of calls that are no rows yet. */
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

  /** Takes calls from now on, and takes up what an earlier process left. */
  start(rules: LedgerRules): void {
    this.#rules = rules
    this.#expander.start()
  }

  record(call: GatewayCall): void {
    this.#gatherer.record(call)
    this.#known().counted(call)
  }

  flush(): Promise<void> {
    return this.#gatherer.flush()
  }

  /** Everything taken is durable, unless the store is away for too long; the next start makes rows of it. */
  async stop(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#clock.after(stopPatienceMs, late.resolve)
    await Promise.race([this.flush(), late.promise])
    cancel()
    await this.#expander.stop()
  }

  /** For /metrics: calls that were taken, and those that were lost because the store was away for too long. */
  get counts(): { readonly taken: number; readonly dropped: number } {
    const { taken, dropped } = this.#gatherer
    return { taken, dropped }
  }

  #known(): LedgerRules {
    if (this.#rules === undefined) throw new Error('a call was recorded before the ledger began')
    return this.#rules
  }
}
