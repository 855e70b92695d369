import type { LeaseTable } from '#storage/cluster-ports.ts'
import { Random } from '#test/simulation/world/random.ts'
import type { DisturbedPeriods } from './disturbed-periods.ts'
import { type ClientParts, NodeClient } from './node-client.ts'
import { SessionVisit } from './session-visit.ts'
import { shardsIn } from './shards-in.ts'

/** Maximum number of probed sessions per killed node. */
const probesPerKill = 3
const poolSize = 72
/** Timeout in ms of a node's first turn: a node that takes longer has been disturbed again. */
const firstTurnMaxMs = 10_000

/** Callbacks for takeovers, and the periods of other disturbances. */
export interface TakeoverWatch {
  /** Receives what the service refused. */
  readonly report: (problem: unknown) => void
  readonly say: (line: string) => void
  readonly spans: DisturbedPeriods
}

/** Measures how long sessions of a killed node are unavailable: until another node acknowledges a turn of one. */
export class Takeovers {
  /** Times in ms from the kill to the acknowledgement, in order of measurement. */
  readonly timesMs: number[] = []
  /** Those during which nothing else was disturbed. */
  readonly calmMs: number[] = []
  readonly #parts: ClientParts
  readonly #visits: SessionVisit[] = []
  readonly #busy = new Set<SessionVisit>()
  readonly #report: (problem: unknown) => void
  readonly #say: (line: string) => void
  readonly #spans: DisturbedPeriods
  #requested = 0

  constructor(parts: ClientParts, { report, say, spans }: TakeoverWatch) {
    this.#parts = parts
    this.#report = report
    this.#say = say
    this.#spans = spans
  }

  /** The probed sessions, for the verdict. */
  get visits(): readonly SessionVisit[] {
    return this.#visits
  }

  /** Creates sessions that are spread over all shards, and so over all nodes. */
  async prepare(): Promise<void> {
    const client = new NodeClient(this.#parts, new Random('probes'))
    const open = (at: number) => SessionVisit.open(`probe-${at}`, { client, random: new Random(at), toolUrl: '' })
    this.#visits.push(...(await Promise.all(Array.from({ length: poolSize }, (_, at) => open(at)))))
  }

  /**
   * Measures the takeovers of a node killed at `killedAt` (performance.now()); `table` holds the leases just before
   * that.
   */
  async measure(node: string, table: LeaseTable | null, killedAt: number): Promise<void> {
    const holders = new Set(table?.members.filter((member) => member.node === node).map(({ process }) => process))
    const held = new Set(table?.leases.filter(({ holder }) => holder && holders.has(holder)).map(({ shard }) => shard))
    const shards = shardsIn(table)
    const idle = this.#visits.filter((visit) => held.has(shards.of(visit.id)) && !this.#busy.has(visit))
    const probed = idle.slice(0, probesPerKill).map(async (visit) => {
      const took = await this.#probe(visit, killedAt)
      if (took !== undefined)
        this.#say(`shard ${shards.of(visit.id)} of ${node} was back ${Math.round(took)} ms after the kill`)
    })
    await Promise.all(probed)
  }

  /**
   * Starts a turn at this node.
   *
   * @returns ms from `startedAt` to its acknowledgement; null when the node became unavailable again.
   */
  async firstTurnAt(url: string, startedAt: number): Promise<number | null> {
    const client = new NodeClient({ ...this.#parts, urls: () => [url] }, new Random(`first:${startedAt}`))
    const deadline = startedAt + firstTurnMaxMs
    const request = { method: 'POST', path: '/v1/sessions', body: {} } as const
    try {
      while (performance.now() < deadline) {
        const made = await client.attempt(request, async (response) => String(Object(await response.json()).id))
        if (made === null) continue
        const turn = { method: 'POST', path: `/v1/sessions/${made.value}/turns`, body: { input: 'first' } } as const
        const taken = await client.attempt(turn, async () => performance.now() - startedAt)
        if (taken !== null) return taken.value
      }
    } catch (problem) {
      this.#report(problem)
    }
    return null
  }

  async #probe(visit: SessionVisit, killedAt: number): Promise<number | undefined> {
    this.#busy.add(visit)
    const token = `probe${++this.#requested}q`
    let took: number | undefined
    const taken = () => {
      took = performance.now() - killedAt
      this.timesMs.push(took)
      if (this.#spans.spare(killedAt, killedAt + took)) this.calmMs.push(took)
    }
    await visit.request('plain', token, taken).catch(this.#report)
    this.#busy.delete(visit)
    return took
  }
}

/** Returns the quantile of `values` at `part` (0 to 1); 0 for no values. */
export const quantile = (values: readonly number[], part: number): number => {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
