import type { Scope } from '#specs/scope.ts'
import type { CommitStore, RecordStore } from '#storage/ports.ts'
import type { ListedMachine } from './list-actors.ts'

/** Actors whose histories are looked at, the newest of a machine, and commits of each. */
const sampledActors = 30
const sampledCommits = 60
/** So many stays in a state say how long is long. */
const leastStays = 20
/** How long an answer is good for, in ms. */
const keptMs = 60_000
const mostKept = 500

/** How long actors of one machine stayed in each of its states: the 99th percentile, in ms. */
export type Stays = ReadonlyMap<string, number>

/**
 * How long actors stay in their states, of the newest ones of each machine in a project. Read from commits when a state is
 * looked at, and kept for a minute: a count of every stay would be a write with every step.
 */
export class Dwells {
  readonly #parts: { readonly commits: Pick<CommitStore, 'ofActor'>; readonly records: RecordStore }
  readonly #now: () => number
  readonly #kept = new Map<string, { readonly until: number; readonly stays: Promise<Stays> }>()

  constructor(
    parts: { readonly commits: Pick<CommitStore, 'ofActor'>; readonly records: RecordStore },
    now: () => number,
  ) {
    this.#parts = parts
    this.#now = now
  }

  /** The 99th percentile of each state that enough actors have left. */
  of(machine: ListedMachine, scope: Scope): Promise<Stays> {
    const key = `${scope.project} ${machine.definition.name}`
    const before = this.#kept.get(key)
    if (before !== undefined && before.until > this.#now()) return before.stays
    if (this.#kept.size >= mostKept) this.#kept.clear()
    const stays = this.#read(machine, scope)
    this.#kept.set(key, { until: this.#now() + keptMs, stays })
    stays.catch(() => this.#kept.delete(key))
    return stays
  }

  async #read({ rows }: ListedMachine, scope: Scope): Promise<Stays> {
    const newest = await this.#parts.records.list(rows, scope, { limit: sampledActors })
    const lengths = new Map<string, number[]>()
    for (const { id, version } of newest) {
      const commits = await this.#parts.commits.ofActor(id, Math.max(0, version - sampledCommits), sampledCommits)
      let entered: number | null = null
      for (const { moved, at } of commits) {
        if (moved === undefined) continue
        const [from] = moved
        if (entered !== null && from !== null) lengths.set(from, [...(lengths.get(from) ?? []), at - entered])
        entered = at
      }
    }
    return new Map(
      [...lengths].filter(([, each]) => each.length >= leastStays).map(([state, each]) => [state, p99(each)]),
    )
  }
}

const p99 = (lengths: readonly number[]): number => {
  const sorted = [...lengths].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0
}
