import { type CommitRow, EventPage, fromRow, keyOf, replacesKey, toRow } from '#storage/commit-row.ts'
import { endOf, isSettled, mergesOf, partsOf } from '#storage/merged-parts.ts'
import {
  type AppendOutcome,
  type Commit,
  type CommitKey,
  type CommitStore,
  type DueQuery,
  type EffectParts,
  type MergeOutcome,
  type OpenCommit,
  type OpenQuery,
  type SettleWork,
  type StoredLogEvent,
  StoreUnavailable,
} from '#storage/ports.ts'

interface Log {
  readonly bySeq: Map<number, CommitRow>
  readonly byCause: Map<string, CommitRow>
  head: CommitRow
}

/** Commits in memory, for pure tests. They are stored as text, so no caller shares an object with the store. */
export class MemoryCommits implements CommitStore {
  readonly #logs = new Map<string, Log>()
  readonly #open = new Map<string, CommitRow>()
  readonly #due = new Map<string, CommitRow>()
  /** Whether a merge stops before it removes the next merged commit, as if its process died. */
  cutsMerge: () => boolean = () => false
  /** Whether the key of a replaced commit can be taken again, as in a store without transactions. */
  leavesGaps = false

  async append(commits: readonly Commit[]): Promise<readonly AppendOutcome[]> {
    return commits.map((commit) => {
      const outcome = this.#add(toRow(commit))
      if (outcome === 'done') this.#removeReplaced(commit)
      return outcome
    })
  }

  #removeReplaced({ actor, seq, replaces = 0 }: Commit): void {
    for (let removed = seq - 1; removed >= seq - replaces; removed--) {
      if (this.cutsMerge()) return
      this.#remove({ actor, seq: removed })
    }
  }

  #add(row: CommitRow): AppendOutcome {
    const log = this.#logs.get(row.actor)
    if (log?.bySeq.has(row.seq)) return 'overtaken'
    if (log?.byCause.has(row.cause)) return 'duplicate'
    if (log && !this.leavesGaps && isReplaced(log, row.seq)) return 'overtaken'
    if (log && log.head.seq > row.seq) this.#put(log, row)
    else this.#put({ bySeq: log?.bySeq ?? new Map(), byCause: log?.byCause ?? new Map(), head: row }, row)
    return 'done'
  }

  #put(log: Log, row: CommitRow): void {
    const key = keyOf(row)
    this.#logs.set(row.actor, log)
    log.bySeq.set(row.seq, row)
    log.byCause.set(row.cause, row)
    if (log.head.seq === row.seq) log.head = row
    if (row.open) this.#open.set(key, row)
    else this.#open.delete(key)
    if (row.due !== null) this.#due.set(key, row)
    else this.#due.delete(key)
  }

  async head(actor: string): Promise<Commit | null> {
    return found(this.#logs.get(actor)?.head)
  }

  async at(actor: string, seq: number): Promise<Commit | null> {
    return found(this.#logs.get(actor)?.bySeq.get(seq))
  }

  async byCause(actor: string, cause: string): Promise<Commit | null> {
    return found(this.#logs.get(actor)?.byCause.get(cause))
  }

  async ofActor(actor: string, after: number, limit: number): Promise<readonly Commit[]> {
    const rows = [...(this.#logs.get(actor)?.bySeq.values() ?? [])].filter(({ seq }) => seq > after)
    return rows
      .sort((a, b) => a.seq - b.seq)
      .slice(0, limit)
      .map(fromRow)
  }

  async events(actor: string, after: number, limit: number): Promise<readonly StoredLogEvent[]> {
    const rows = [...(this.#logs.get(actor)?.bySeq.values() ?? [])].sort((a, b) => a.seq - b.seq)
    const page = new EventPage(after, limit)
    for (const row of rows) {
      if (row.events !== null && row.last_sequence > after && !page.take(row.events, row.at)) break
    }
    return page.events
  }

  async open({ limit, shards, from, until }: OpenQuery): Promise<readonly OpenCommit[]> {
    const rows = [...this.#open.values()].filter((row) => !shards || shards.includes(row.shard))
    return rows
      .filter((row) => from === undefined || byPlace(row, from) >= 0)
      .filter(({ at }) => until === undefined || at <= until)
      .sort((a, b) => byPlace(a, b) || compare(a, b))
      .slice(0, limit)
      .map(({ actor, seq, shard, epoch, at }) => ({ actor, seq, shard, epoch, at }))
  }

  async due({ now, from = 0, limit, shards }: DueQuery): Promise<readonly Commit[]> {
    const dueAt = (row: CommitRow): number => row.due ?? Number.POSITIVE_INFINITY
    const isDue = (row: CommitRow): boolean => dueAt(row) >= from && dueAt(row) <= now
    return [...this.#due.values()]
      .filter((row) => isDue(row) && (!shards || shards.includes(row.shard)))
      .sort((a, b) => dueAt(a) - dueAt(b) || compare(a, b))
      .slice(0, limit)
      .map(fromRow)
  }

  async ofProject(project: string | null, after: CommitKey | null, limit: number): Promise<readonly Commit[]> {
    const from = after === null ? '' : keyOf(after)
    return [...this.#logs.values()]
      .flatMap((log) => [...log.bySeq.values()])
      .filter((row) => (project === null || row.project === project) && keyOf(row) > from)
      .sort(compare)
      .slice(0, limit)
      .map(fromRow)
  }

  async settle({ close, undue, retire }: SettleWork): Promise<void> {
    for (const key of close) this.#change(key, { open: false })
    for (const key of undue) this.#change(key, { due: null })
    for (const key of retire) this.#change(key, { open: false, due: null, snapshot: null })
  }

  #change({ actor, seq }: CommitKey, change: Partial<CommitRow>): void {
    const log = this.#logs.get(actor)
    const row = log?.bySeq.get(seq)
    if (log && row) this.#put(log, { ...row, ...change })
  }

  async merge({ actor, effect, after, before, epoch }: EffectParts): Promise<MergeOutcome> {
    const log = this.#logs.get(actor)
    if ((log?.head.epoch ?? 0) > epoch) return { kind: 'overtaken' }
    const rows = [...(log?.bySeq.values() ?? [])]
      .filter((row) => row.seq > after && row.seq <= before && row.events !== null)
      .sort((a, b) => a.seq - b.seq)
      .map((row) => ({ ...row, events: row.events ?? '[]' }))
    const parts = partsOf(rows, effect)
    if (!parts.every(isSettled)) return { kind: 'waits' }
    const merges = mergesOf(parts, { end: endOf(rows, before) })
    for (const { into, events, parts } of merges) {
      if (events !== null) this.#change({ actor, seq: into.seq }, { events, snapshot: null })
      for (const { seq } of parts) {
        if (this.cutsMerge()) throw new StoreUnavailable('cut')
        this.#remove({ actor, seq })
      }
    }
    return { kind: 'removed', commits: merges.reduce((sum, { parts }) => sum + parts.length, 0), next: null }
  }

  #remove(key: CommitKey): void {
    const log = this.#logs.get(key.actor)
    const row = log?.bySeq.get(key.seq)
    if (log === undefined || row === undefined) return
    log.bySeq.delete(key.seq)
    log.byCause.delete(row.cause)
    this.#open.delete(keyOf(key))
    this.#due.delete(keyOf(key))
  }

  async actorsOf(
    project: string,
    tenant: string | null,
    { after, limit }: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly string[]> {
    return [...this.#logs.values()]
      .flatMap(({ bySeq }) => bySeq.get(1) ?? [])
      .filter(
        (row) =>
          row.project === project &&
          (tenant === null || row.tenant === tenant) &&
          (after === null || row.actor > after),
      )
      .map(({ actor }) => actor)
      .sort()
      .slice(0, limit)
  }

  async forget(actor: string): Promise<void> {
    for (const row of this.#logs.get(actor)?.bySeq.values() ?? []) {
      this.#open.delete(keyOf(row))
      this.#due.delete(keyOf(row))
    }
    this.#logs.delete(actor)
  }
}

const isReplaced = ({ bySeq, head }: Log, seq: number): boolean => {
  for (let after = seq + 1; after <= head.seq; after++) {
    const row = bySeq.get(after)
    if (row !== undefined) return replacesKey(fromRow(row), seq)
  }
  return false
}

const found = (row: CommitRow | undefined): Commit | null => (row ? fromRow(row) : null)

type Place = NonNullable<OpenQuery['from']>

const byPlace = (a: Place, b: Place): number => a.shard - b.shard || a.at - b.at || a.seq - b.seq

const compare = (a: CommitKey, b: CommitKey): number => (keyOf(a) < keyOf(b) ? -1 : 1)
