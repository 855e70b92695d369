import { definitions } from '#actors/capabilities.ts'
import { runRows } from '#actors/runs/kinds.ts'
import { actionRows, sessionRows } from '#actors/sessions/kinds.ts'
import { usageLedger } from '#actors/usage/usage-ledger.ts'
import { deliveryRows } from '#actors/webhooks/kinds.ts'
import type { Clock } from '#runtime/clock.ts'
import type { LedgerRow } from '#runtime/log/ledger.ts'
import { rebuildRows } from '#runtime/rows/rebuild-rows.ts'
import { projectScope } from '#specs/scope.ts'
import type { Storage } from '#storage/ports.ts'
import type { Ledger } from './ledger.ts'

/** The rows of the actors that a simulation has. */
const rows = { session: sessionRows, action: actionRows, run: runRows, delivery: deliveryRows }

/** Nothing waits: all is calm when rows are looked at. */
const noTime: Clock = {
  now: () => 0,
  steady: () => 0,
  after: (_ms, work) => {
    setImmediate(work)
    return () => {}
  },
  soon: setImmediate,
}

/** What has to hold of rows: each is what its commits say, and every model call that was answered has its usage, once. */
export class RowRules {
  readonly #ledger: Ledger
  readonly #inner: Storage
  /** Usage rows that have to be there, by id; those of actors that were deleted since too. */
  readonly #used = new Map<string, LedgerRow>()

  constructor(ledger: Ledger, inner: Storage) {
    this.#ledger = ledger
    this.#inner = inner
    ledger.watching.push((commit) => {
      const user = ledger.ownerOf(commit.actor)?.user ?? null
      for (const row of usageLedger(commit, { ...commit, user, createdAt: commit.at }))
        this.#used.set(row.record.id, row)
    })
  }

  /** Once all is calm. */
  async check(): Promise<void> {
    const parts = { definitions, rows, ledger: usageLedger, clock: noTime, checkOnly: true }
    const { differences } = await rebuildRows({ ...parts, storage: this.#inner })
    for (const { kind, id, what } of differences) this.#ledger.broken(`the row of ${id} in ${kind} is ${what}`)
    for (const [id, { kind, record }] of this.#used) {
      const row = await this.#inner.records.get(kind, projectScope(record.project), id)
      this.#ledger.expect(
        row !== null,
        () => `the usage of ${String(record.data.session_id ?? record.data.run_id)} is lost`,
      )
    }
    const projects = new Set([...this.#used.values()].map(({ record }) => record.project))
    for (const project of projects) await this.#checkCount(project)
  }

  async #checkCount(project: string): Promise<void> {
    const wanted = [...this.#used.values()].filter(({ record }) => record.project === project)
    const kind = wanted[0]?.kind
    const count = kind && (await this.#inner.records.count(kind, projectScope(project)))
    this.#ledger.expect(
      count === wanted.length,
      () => `${count} rows of usage in ${project} for ${wanted.length} calls`,
    )
  }
}
