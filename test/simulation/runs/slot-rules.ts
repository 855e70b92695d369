import { matchesState } from 'xstate'
import type { RunConcurrency } from '#actors/runs/pick-runs.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import { contextOf } from '#runtime/schema.ts'
import { readStoredState } from '#runtime/step/actor-state.ts'
import type { Commit, StoredRecord } from '#storage/ports.ts'
import type { Ledger } from '../ledger.ts'

/** Lanes of a project: two tenants, and runs without a tenant. */
const lanesOfProject = 3

interface RunInQueue {
  readonly queue: string
  readonly lane: string
  /** Null: runs without a tenant are limited by the project only. */
  readonly tenant: string | null
  readonly slot: boolean
  /** The seq of the commit since which it waits for a slot; null if it does not wait. */
  readonly waitsSince: number | null
}

/** A read of the waiting runs: the runs that it must see, and the lanes at their limit. */
interface Looking {
  readonly waiting: readonly string[]
  readonly capped: ReadonlySet<string>
}

/**
 * The guarantees of the run queue (specs/decisions/0071-runs.md): the runs in progress never exceed the limits of a
 * tenant and a project; and no waiting run is skipped while every other lane is served twice.
 */
export class SlotRules {
  readonly #ledger: Ledger
  readonly #limits: RunConcurrency
  readonly #runs = new Map<string, RunInQueue>()
  /** The newest row of each run: its version, and whether the run waits according to it. */
  readonly #rows = new Map<string, { readonly version: number; readonly waits: boolean }>()
  readonly #marked = new Set<string>()
  readonly #scans = new Map<string, Looking>()
  /** Slots given to others since a run of the lane could have had one. */
  readonly #passed = new Map<string, number>()

  constructor(ledger: Ledger, limits: RunConcurrency) {
    this.#ledger = ledger
    this.#limits = limits
    ledger.watching.push((commit) => this.#wrote(commit))
    ledger.watchingRecords.push((kind, record) => this.#kept(kind, record))
  }

  #wrote(commit: Commit): void {
    if (commit.actor.startsWith('run_')) this.#run(commit)
    if (commit.actor.startsWith('rqu_')) this.#queue(commit)
  }

  #kept(kind: string, { id, version, data }: StoredRecord): void {
    if (kind === 'runs' && version > (this.#rows.get(id)?.version ?? 0)) {
      this.#rows.set(id, { version, waits: typeof data.lane === 'string' })
    }
    if (kind === 'run_lanes') this.#marked[data.waiting === true ? 'add' : 'delete'](id)
  }

  #run(commit: Commit): void {
    const { value, context } = readStoredState(commit)
    const { slot, queue_id, lane } = contextOf(runDefinition, { context })
    const waits = matchesState('open.queued', value) || matchesState('open.started.running.returning', value)
    const before = this.#runs.get(commit.actor)?.waitsSince ?? null
    const waitsSince = waits ? (before ?? commit.seq) : null
    this.#runs.set(commit.actor, { queue: queue_id, lane, tenant: commit.tenant, slot, waitsSince })
    if (slot) this.#atWork(queue_id, lane, commit)
  }

  #atWork(queue: string, lane: string, { actor, tenant }: Commit): void {
    const { perProject, perTenant } = this.#limits
    const working = [...this.#runs.values()].filter((run) => run.slot && run.queue === queue)
    const ofLane = working.filter((run) => run.lane === lane).length
    this.#ledger.expect(working.length <= perProject, () => `with ${actor} ${working.length} runs of a project work`)
    this.#ledger.expect(tenant === null || ofLane <= perTenant, () => `with ${actor} ${ofLane} runs of ${tenant} work`)
  }

  #queue(commit: Commit): void {
    const { holders, capped: _, ...rest } = contextOf(runQueueDefinition, readStoredState(commit))
    const all = Object.values(holders).flat()
    this.#ledger.expect(all.length <= this.#limits.perProject, () => `${rest.queue_id} has given ${all.length} slots`)
    this.#ledger.expect(
      new Set(all).size === all.length,
      () => `${rest.queue_id} has given a slot twice: ${all.join()}`,
    )
    const look = this.#scans.get(commit.cause.replace(/#done$/, ''))
    if (commit.event.type === 'runs_picked' && look !== undefined) this.#picked(commit, look)
    for (const { id } of commit.effects) this.#scans.set(id, this.#scanOf(commit.actor, holders))
  }

  /** What a read that starts now has to see. */
  #scanOf(queue: string, holders: Readonly<Record<string, readonly string[]>>): Looking {
    const held = new Set(Object.values(holders).flat())
    const waiting = [...this.#runs].filter(([id, run]) => run.queue === queue && !held.has(id) && this.#shows(id, run))
    const full = Object.entries(holders).filter(([, runs]) => runs.length >= this.#limits.perTenant)
    return { waiting: waiting.map(([id]) => id), capped: new Set(full.map(([lane]) => lane)) }
  }

  /** Whether its row shows that it waits, and its lane is marked. */
  #shows(id: string, { waitsSince, lane }: RunInQueue): boolean {
    const row = this.#rows.get(id)
    return waitsSince !== null && row?.waits === true && row.version >= waitsSince && this.#marked.has(lane)
  }

  #picked({ actor, event }: Commit, { waiting, capped }: Looking): void {
    const served: readonly string[] = Object(event).granted.map((grant: unknown) => Object(grant).lane)
    const still = waiting.map((id) => this.#runs.get(id)).filter((run) => run !== undefined && run.waitsSince !== null)
    const lanes = new Set(still.map((run) => run?.lane ?? ''))
    for (const lane of [...this.#passed.keys()])
      if (!lanes.has(lane) || served.includes(lane)) this.#passed.delete(lane)
    for (const lane of lanes) {
      if (served.includes(lane) || this.#isCapped(lane, capped)) continue
      const passed = (this.#passed.get(lane) ?? 0) + served.length
      this.#passed.set(lane, passed)
      this.#ledger.expect(passed < lanesOfProject, () => `${actor} passes ${lane} over ${passed} times`)
    }
  }

  #isCapped(lane: string, capped: ReadonlySet<string>): boolean {
    const ofTenant = [...this.#runs.values()].some((run) => run.lane === lane && run.tenant !== null)
    return ofTenant && capped.has(lane)
  }
}
