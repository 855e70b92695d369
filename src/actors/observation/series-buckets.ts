import { logPrefix, requestLog } from '#gateway/ledger/kinds.ts'
import { usagePrefix, usageRows } from '#gateway/ledger/usage-rows.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { RecordKind, RecordStore, Scope, StoredRecord } from '#storage/index.ts'
import { idFloor } from '../runtime/internal.ts'
import { failurePrefix, failureRows } from './failures.ts'
import { textOf } from './listed-actor.ts'
import { type Counted, SeriesSums } from './series-sums.ts'

/** Rows that a read adds at most; a longer range is completed by the next reads. */
const maxRows = 10_000
const pageSize = 500
/** Rows may be written this long after their time, in ms; newer ones are read again each time. */
const settleMs = 15_000
/** Most buckets in memory, of all projects. */
const maxBuckets = 5_000

interface Source {
  readonly kind: RecordKind
  readonly prefix: string
  readonly counted: (row: StoredRecord) => Counted
}

const numberOf = (value: unknown): number => Number(value ?? 0) || 0

const groupsOf = ({ tenant, data }: StoredRecord) => ({
  model: textOf(data.model) ?? textOf(data.asked_model),
  tenant,
  agent: textOf(data.agent_id),
  operation: textOf(data.operation),
})

/** Model calls are counted from their usage, durations and errors from the request log, other errors from failures. */
const sources: readonly Source[] = [
  {
    kind: usageRows,
    prefix: usagePrefix,
    counted: (row) => ({
      calls: 1,
      usd: numberOf(row.data.provider_cost_usd),
      input: numberOf(row.data.input_tokens),
      output: numberOf(row.data.output_tokens),
      groups: groupsOf(row),
    }),
  },
  {
    kind: requestLog,
    prefix: logPrefix,
    counted: (row) =>
      row.data.error === null ? { ms: numberOf(row.data.duration_ms) } : { errors: 1, groups: groupsOf(row) },
  },
  { kind: failureRows, prefix: failurePrefix, counted: () => ({ errors: 1 }) },
]

interface Bucket {
  readonly sums: SeriesSums
  /** Id after which each source is read on, in the order of `sources`. */
  readonly after: string[]
  /** Whether all of its rows are counted. */
  done: boolean
}

/** A part of time, in ms since the epoch. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** The state of one read: how many more rows it may read. */
class Allowance {
  left = maxRows
}

/** A bucket, the time to which it is filled, and the rows that may be read. */
interface Filling {
  readonly bucket: Bucket
  readonly toMs: number
  readonly allowance: Allowance
}

/**
 * Sums of a project's calls by buckets of time. Past buckets are read once and kept in memory; a read stops after
 * `maxRows` rows, and the next one goes on from there.
 */
export class SeriesBuckets {
  readonly #records: RecordStore
  readonly #now: () => number
  readonly #kept = new Map<string, Bucket>()

  constructor(records: RecordStore, now: () => number) {
    this.#records = records
    this.#now = now
  }

  /** Returns the sums of each span, newest first read; `complete` is false when rows of older spans are missing. */
  async read(
    scope: Scope,
    spans: readonly Span[],
  ): Promise<{ readonly sums: readonly SeriesSums[]; readonly complete: boolean }> {
    const allowance = new Allowance()
    const sums: SeriesSums[] = []
    for (const span of spans.toReversed()) sums.push(await this.#sumsOf(scope, span, allowance))
    return { sums: sums.toReversed(), complete: allowance.left > 0 }
  }

  async #sumsOf(scope: Scope, { fromMs, toMs }: Span, allowance: Allowance): Promise<SeriesSums> {
    const settledTo = Math.max(fromMs, Math.min(toMs, this.#now() - settleMs))
    const bucket = this.#bucketAt(`${scope.project} ${fromMs} ${toMs}`, fromMs)
    if (!bucket.done) await this.#fill(scope, { bucket, toMs: settledTo, allowance })
    if (settledTo === toMs) {
      bucket.done = allowance.left > 0
      return bucket.sums
    }
    const newest = newBucket(settledTo)
    await this.#fill(scope, { bucket: newest, toMs, allowance })
    newest.sums.join(bucket.sums)
    return newest.sums
  }

  #bucketAt(key: string, fromMs: number): Bucket {
    const bucket = this.#kept.get(key) ?? newBucket(fromMs)
    if (this.#kept.size >= maxBuckets) this.#kept.clear()
    this.#kept.set(key, bucket)
    return bucket
  }

  async #fill(scope: Scope, filling: Filling): Promise<void> {
    await Promise.all(sources.map((source, index) => this.#fillFrom(scope, filling, { source, index })))
  }

  async #fillFrom(
    scope: Scope,
    { bucket, toMs, allowance }: Filling,
    { source: { kind, prefix, counted }, index }: { readonly source: Source; readonly index: number },
  ): Promise<void> {
    const end = idFloor(prefix, toMs)
    for (let more = allowance.left > 0; more; ) {
      const after = bucket.after[index] ?? end
      const page = await this.#records.list(kind, scope, { after, limit: pageSize, ascending: true })
      // two reads may fill a bucket at the same time: only one of them adds these rows
      if (bucket.after[index] !== after) continue
      const inside = page.filter(({ id }) => id < end)
      for (const row of inside) bucket.sums.add(counted(row))
      bucket.after[index] = inside.at(-1)?.id ?? after
      allowance.left -= inside.length
      more = inside.length === pageSize && allowance.left > 0
      // an embedded store answers synchronously
      await nextSlice()
    }
  }
}

const newBucket = (fromMs: number): Bucket => ({
  sums: new SeriesSums(),
  after: sources.map(({ prefix }) => idFloor(prefix, fromMs)),
  done: false,
})
