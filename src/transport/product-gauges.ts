import type { Actors } from '../actors/open-actors.ts'
import { actionRows } from '../actors/sessions/kinds.ts'
import { topState } from '../machines/index.ts'
import { projectScope, type RecordStore } from '../storage/index.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { Metrics } from './metrics.ts'

/** Time in ms for which counts from the store are cached, so that several scrapers cost no more than one. */
const keptMs = 10_000

/** Maximum number of projects that are counted at a scrape. */
const maxProjects = 200

interface Sources {
  readonly actors: Pick<Actors, 'runtime'>
  readonly records: Pick<RecordStore, 'count' | 'list'>
}

/** Registers the product's counters, and gauges that are read at each scrape. */
export const showProduct = (metrics: Metrics, telemetry: Telemetry, { actors, records }: Sources): void => {
  const { host } = actors.runtime
  metrics.product(telemetry.metrics)
  metrics.gauges('troupe_actors', 'Actors in memory, by machine and state.', () => actorsByState(host.residents()))
  metrics.gauge('troupe_parked_actors', 'Parked actors in memory, which require an operator.', () =>
    [...host.residents()].reduce((count, { parked }) => (parked === undefined ? count : count + 1), 0),
  )
  metrics.gauge(
    'troupe_queued_runs',
    'Queued runs, of those queued since the process started.',
    () => telemetry.queuedRuns,
  )
  metrics.gauge(
    'troupe_leases',
    'Shards owned by this process.',
    () => host.ownership.shards?.length ?? host.ownership.space.count,
  )
  const approvals = new Approvals(records, telemetry)
  const active = 'of projects that were active since the process started.'
  metrics.gauge(
    'troupe_pending_approvals',
    `Pending approvals, ${active}`,
    async () => (await approvals.read()).pending,
  )
  metrics.gauge(
    'troupe_oldest_approval_seconds',
    `Age of the oldest pending approval in seconds, ${active}`,
    async () => (await approvals.read()).oldestS,
  )
}

const actorsByState = (residents: ReturnType<Actors['runtime']['host']['residents']>) => {
  const counts = new Map<string, number>()
  for (const { definition, state } of residents) {
    const key = `${definition.name} ${topState(state.snapshot.value)}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].map(([key, count]) => {
    const [machine = '', name = ''] = key.split(' ')
    return [{ machine, state: name }, count] as const
  })
}

interface Counted {
  readonly pending: number
  /** 0 when none is pending. */
  readonly oldestS: number
}

/** Counts pending approvals in the store, at most once per `keptMs`. */
class Approvals {
  readonly #records: Sources['records']
  readonly #telemetry: Telemetry
  #counted: Promise<Counted> | null = null
  #until = 0

  constructor(records: Sources['records'], telemetry: Telemetry) {
    this.#records = records
    this.#telemetry = telemetry
  }

  read(): Promise<Counted> {
    if (this.#counted !== null && performance.now() < this.#until) return this.#counted
    this.#until = performance.now() + keptMs
    this.#counted = this.#count().catch(() => ({ pending: 0, oldestS: 0 }))
    return this.#counted
  }

  async #count(): Promise<Counted> {
    let pending = 0
    let oldest = Number.POSITIVE_INFINITY
    for (const project of [...this.#telemetry.projects].slice(0, maxProjects)) {
      const where = { status: 'pending_approval' }
      const scope = projectScope(project)
      const count = await this.#records.count(actionRows, scope, where)
      if (count === 0) continue
      pending += count
      const [first] = await this.#records.list(actionRows, scope, { where, limit: 1, ascending: true })
      oldest = Math.min(oldest, first?.created_at ?? Date.now())
    }
    return { pending, oldestS: pending === 0 ? 0 : Math.max(0, Date.now() - oldest) / 1000 }
  }
}
