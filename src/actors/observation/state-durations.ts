import type { CommitStore, RecordStore, Scope } from '#storage/index.ts'
import { failureOf } from './failures.ts'
import type { ListedMachine } from './list-actors.ts'

/** Number of the newest actors of a machine that are sampled, and of commits per actor. */
const sampledActors = 30
const sampledCommits = 60
/** Fewest stays in a state from which a percentile is computed. */
const minStays = 20
/** How long a result is cached, in ms. */
const keptMs = 60_000
const maxKept = 500

/** How long actors of a machine stay in each state: the 99th percentile, in ms. */
export type DurationPercentiles = ReadonlyMap<string, number>

/**
 * Computes how long actors stay in their states, from a sample of the newest actors of each machine in a project. It
 * reads commits on demand and caches the result for a minute, because counting every stay would add a write to each
 * step.
 */
export class StateDurations {
  readonly #parts: { readonly commits: Pick<CommitStore, 'ofActor'>; readonly records: RecordStore }
  readonly #now: () => number
  readonly #kept = new Map<string, { readonly until: number; readonly stays: Promise<DurationPercentiles> }>()

  constructor(
    parts: { readonly commits: Pick<CommitStore, 'ofActor'>; readonly records: RecordStore },
    now: () => number,
  ) {
    this.#parts = parts
    this.#now = now
  }

  /** Returns the 99th percentile for each state that actors have left often enough. */
  of(machine: ListedMachine, scope: Scope): Promise<DurationPercentiles> {
    const key = `${scope.project} ${machine.definition.name}`
    const before = this.#kept.get(key)
    if (before !== undefined && before.until > this.#now()) return before.stays
    if (this.#kept.size >= maxKept) this.#kept.clear()
    const stays = this.#read(machine, scope)
    this.#kept.set(key, { until: this.#now() + keptMs, stays })
    stays.catch(() => this.#kept.delete(key))
    return stays
  }

  async #read({ rows }: ListedMachine, scope: Scope): Promise<DurationPercentiles> {
    const newest = await this.#parts.records.list(rows, scope, { limit: sampledActors })
    const lengths = new Map<string, number[]>()
    for (const { id, version } of newest) {
      const commits = await this.#parts.commits.ofActor(id, Math.max(0, version - sampledCommits), sampledCommits)
      let entered: number | null = null
      for (const commit of commits) {
        const { moved, at, event } = commit
        if (moved === undefined) continue
        const [from] = moved
        // what failed or was cancelled may have hung before
        const isUsual = failureOf(commit) === null && event.type !== 'cancel'
        if (entered !== null && from !== null && isUsual)
          lengths.set(from, [...(lengths.get(from) ?? []), at - entered])
        entered = at
      }
    }
    return new Map(
      [...lengths].filter(([, each]) => each.length >= minStays).map(([state, each]) => [state, p99(each)]),
    )
  }
}

/** A stay that is longer than this multiple of the 75th percentile is a hang, which would hide the next one. */
const hangFactor = 10

/** The 99th percentile of the stays that were no hangs. */
export const p99 = (lengths: readonly number[]): number => {
  const sorted = [...lengths].sort((a, b) => a - b)
  const at = (values: readonly number[], share: number): number =>
    values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
  const longest = hangFactor * Math.max(1, at(sorted, 0.75))
  return at(
    sorted.filter((length) => length <= longest),
    0.99,
  )
}
