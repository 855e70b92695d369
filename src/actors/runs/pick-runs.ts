import type { Granted, RunQueueContext } from '#machines/run-queue/run-queue.ts'
import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import { projectScope, type RecordStore, type StoredRecord } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import { contextOf, type IdempotentEffect } from '../runtime/index.ts'
import type { Host } from '../runtime/internal.ts'
import { runRows } from './kinds.ts'
import { type Lane, Lanes } from './lanes.ts'

/** Most runs in progress at a time. */
export interface RunConcurrency {
  readonly perProject: number
  /** Per tenant; runs without a tenant are only limited by `perProject`. */
  readonly perTenant: number
}

/** Dependencies of `pickRuns`. */
export interface PickParts extends Pick<Services, 'clock' | 'records'> {
  readonly host: Pick<Host, 'rows'>
  readonly concurrency: RunConcurrency
}

/** Lanes per page of a read. */
const lanesAtOnce = 64
/** How often, in ms, the granted slots are compared with the runs that hold them. */
const checkEveryMs = 60_000
const finished = new Set(['completed', 'failed', 'cancelled', 'expired'])

/** A lane with its waiting runs, longest waiting first. */
interface Serving {
  readonly lane: Lane
  readonly waiting: StoredRecord[]
}

/**
 * Effect that grants free slots to waiting runs: one run per lane, round-robin after the lane that was served last,
 * until the project has no slot left or no run may start. It reads indexed rows, about as many as there are slots and
 * lanes.
 */
export const pickRuns = (parts: PickParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, { owner, context }) => {
    const queue = contextOf(runQueueDefinition, { context })
    await parts.host.rows.shown()
    const { project } = owner
    const now = parts.clock.now()
    const checks = now - queue.checked_at >= checkEveryMs
    const gone = checks ? await goneHolders(parts.records, project, queue) : []
    const free = parts.concurrency.perProject - holdersOf(queue).length + gone.length
    const selection = new Selection(parts, project, { queue, gone })
    const granted = await selection.serve(free)
    return {
      event: {
        type: 'runs_picked',
        granted,
        gone,
        cursor: selection.cursor,
        capped: selection.capped,
        full: granted.length >= free,
        checked_at: checks ? now : queue.checked_at,
      },
    }
  },
})

const holdersOf = ({ holders }: RunQueueContext): readonly Granted[] =>
  Object.entries(holders).flatMap(([lane, runs]) => runs.map((run_id) => ({ run_id, lane })))

/** Slots held by runs that have ended or do not exist. Such a run has released its slot already, or never will. */
const goneHolders = async (records: RecordStore, project: string, queue: RunQueueContext) => {
  const gone: Granted[] = []
  for (const holder of holdersOf(queue)) {
    const row = await records.get(runRows, projectScope(project), holder.run_id)
    if (row === null || finished.has(String(row.data.status))) gone.push(holder)
  }
  return gone
}

class Selection {
  cursor: string | null
  readonly capped: string[] = []
  readonly #parts: PickParts
  readonly #project: string
  readonly #lanes: Lanes
  readonly #held: Map<string, Set<string>>

  constructor(
    parts: PickParts,
    project: string,
    { queue, gone }: { readonly queue: RunQueueContext; readonly gone: readonly Granted[] },
  ) {
    this.#parts = parts
    this.#project = project
    this.#lanes = new Lanes(parts.records, parts.clock.now)
    this.cursor = queue.cursor
    const lost = new Set(gone.map(({ run_id }) => run_id))
    this.#held = new Map(
      Object.entries(queue.holders).map(([lane, runs]) => [lane, new Set(runs.filter((run) => !lost.has(run)))]),
    )
  }

  async serve(free: number): Promise<readonly Granted[]> {
    const granted: Granted[] = []
    let round: readonly Serving[] = free > 0 ? await this.#open(free) : []
    while (granted.length < free && round.length > 0) {
      for (const { lane, waiting } of round.slice(0, free - granted.length)) {
        const run = waiting.shift()
        if (run === undefined) continue
        granted.push({ run_id: run.id, lane: lane.id })
        this.cursor = lane.id
      }
      round = round.filter(({ waiting }) => waiting.length > 0)
    }
    return granted
  }

  /**
   * Returns lanes that may get a slot, each with its waiting runs. Each lane gets one slot before any gets two, so
   * `free` lanes are enough.
   */
  async #open(free: number): Promise<readonly Serving[]> {
    const serving: Serving[] = []
    for await (const lane of this.#inTurn()) {
      const freeSlots = this.#freeSlotsOf(lane)
      if (freeSlots <= 0) this.capped.push(lane.id)
      else await this.#selection(lane, Math.min(freeSlots, free), serving)
      if (serving.length >= free) break
    }
    return serving
  }

  /** Iterates the marked lanes after the one served last, then those before it, and finally that lane itself. */
  async *#inTurn(): AsyncGenerator<Lane> {
    const last = this.cursor
    for (const [from, until] of last === null
      ? [[null, null]]
      : [
          [last, null],
          [null, last],
        ]) {
      let after: string | null = from ?? null
      for (;;) {
        const page = await this.#lanes.marked(this.#project, after, lanesAtOnce)
        for (const lane of page) {
          if (until !== null && until !== undefined && lane.id > until) return
          yield lane
        }
        if (page.length < lanesAtOnce) break
        after = page.at(-1)?.id ?? null
      }
    }
  }

  #freeSlotsOf({ id, tenant }: Lane): number {
    if (tenant === null) return Number.POSITIVE_INFINITY
    return this.#parts.concurrency.perTenant - (this.#held.get(id)?.size ?? 0)
  }

  async #selection(lane: Lane, freeSlots: number, serving: Serving[]): Promise<void> {
    const rows = await this.#rowsOf(lane, freeSlots)
    const waiting = rows.filter(({ id }) => !this.#holds(lane).has(id)).slice(0, freeSlots)
    if (waiting.length > 0) serving.push({ lane, waiting })
    // Unmark only when there is no row at all: a run listed as a holder may have released its slot since, and wait
    // again.
    else if (rows.length === 0) {
      await this.#lanes.unmark(this.#project, lane, async () => (await this.#rowsOf(lane, 1)).length > 0)
    }
  }

  #holds({ id }: Lane): ReadonlySet<string> {
    return this.#held.get(id) ?? new Set()
  }

  /** Rows of the longest waiting runs. A row can be stale and still list a run that has already been given a slot. */
  #rowsOf(lane: Lane, max: number): Promise<readonly StoredRecord[]> {
    return this.#parts.records.list(runRows, projectScope(this.#project), {
      where: { lane: lane.id },
      ascending: true,
      limit: max + this.#holds(lane).size,
    })
  }
}
