import { definitions } from '#actors/capabilities.ts'
import { runRows } from '#actors/runs/kinds.ts'
import { actionRows, sessionRows } from '#actors/sessions/kinds.ts'
import { usageLedger } from '#actors/usage/usage-ledger.ts'
import { deliveryRows } from '#actors/webhooks/kinds.ts'
import type { Clock } from '#runtime/clock.ts'
import type { LedgerRow } from '#runtime/log/ledger.ts'
import { rebuildRows } from '#runtime/rows/rebuild-rows.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import type { Ledger } from './ledger.ts'

/** The row kinds of the actors in a simulation. */
const rows = { session: sessionRows, action: actionRows, run: runRows, delivery: deliveryRows }

/** A clock without waits, as the system is idle when rows are checked. */
const noTime: Clock = {
  now: () => 0,
  steady: () => 0,
  after: (_ms, work) => {
    setImmediate(work)
    return () => {}
  },
  soon: setImmediate,
}

const parts = { definitions, rows, ledger: usageLedger, clock: noTime }

/** What has to hold for rows: each matches its commits, and every answered model call has one usage row. */
export class RowRules {
  readonly #ledger: Ledger
  readonly #inner: Storage
  /** Usage rows that have to exist, by id, including those of deleted actors. */
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

  /** Checks the rows once the system is idle. */
  async check(): Promise<void> {
    const { differences } = await rebuildRows({ ...parts, storage: this.#inner, checkOnly: true })
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
