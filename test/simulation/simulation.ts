import { sessionDefinition } from '#machines/session/session-definition.ts'
import { takeIdsFrom } from '#runtime/ids.ts'
import { readParked } from '#runtime/step/actor-state.ts'
import type { Commit } from '#storage/ports.ts'
import { MemoryCommits } from '../support/memory/commits.ts'
import { openMemoryStorage } from '../support/memory/open-memory-storage.ts'
import type { Defect } from './defects.ts'
import { checkExpiry, checkLogs, checkTheEnd, checkTidiness } from './end-checks.ts'
import { Ledger } from './ledger.ts'
import { Prober } from './prober.ts'
import { RowRules } from './row-rules.ts'
import { runSettingOf } from './runs/run-agents.ts'
import { RunLife } from './runs/run-life.ts'
import { SessionLife } from './sessions/session-life.ts'
import { plantBadActors } from './world/bad-actors.ts'
import { Cluster } from './world/cluster.ts'
import {
  clusterFaultsOf,
  type Faults,
  faultsOf,
  laterFaultsOf,
  noFaults,
  partitionsOf,
  upgradeFaults,
} from './world/faults.ts'
import { identities } from './world/identities.ts'
import type { Life } from './world/life.ts'
import { Network } from './world/network.ts'
import { OutsideWorld } from './world/outside-world.ts'
import { Random } from './world/random.ts'
import { RestingSessions } from './world/resting.ts'
import { Scheduler } from './world/scheduler.ts'
import type { StoreCounts } from './world/sim-storage.ts'
import { VolatileWrites } from './world/volatile-writes.ts'

/** The result of one seed. */
export interface SimulationResult {
  readonly seed: number
  /** The violated guarantees; empty if all held. */
  readonly violations: readonly string[]
  /** Everything that happened, a line each; the same for the same seed. */
  readonly trace: readonly string[]
  readonly commits: number
  /** Processes that were started. */
  readonly processes: number
  /** Turns that were started. */
  readonly turns: number
  /** What it took until the clients had their answers. */
  readonly traffic: Traffic
  /** Shards of the fullest process as a multiple of an equal share, and the number of commits of the next release. */
  readonly upgrade: { readonly fullest: number; readonly newer: number; readonly waits: Cluster['waits'] }
}

/** What the processes did in a run until the clients had their answers. */
interface Traffic extends Readonly<StoreCounts> {
  readonly turns: number
  readonly commits: number
  /** How often an actor was moved after a process had loaded it: a commit each that no event of a client, model, tool or timer caused. */
  readonly moves: number
  /** Requests and notifications between processes. */
  readonly messages: number
  /** Virtual time, in ms. */
  readonly ms: number
}

/** Options of a run in addition to its seed. */
export interface SimulationOptions {
  readonly defect?: Defect
  /** In place of the faults that the seed draws. */
  readonly faults?: Faults
  /** The number of processes; one if absent. */
  readonly nodes?: number
  /** What its clients do; `sessions` if absent. */
  readonly scenario?: Scenario
  /** Deltas of ended turns are merged, and processes die during merges. */
  readonly compaction?: boolean
  /** Every process is replaced by one of the next release meanwhile, with kills and partitions. */
  readonly upgrade?: boolean
  /** How long clients come before an upgrade begins, in ms; 0 if absent. */
  readonly calmMs?: number
  /** Time between two groups of clients, in ms. */
  readonly groupMs?: number
  /** Groups of clients that come one after the other; one if absent. */
  readonly groups?: number
  /** Time that passes before the first clients come, in ms. */
  readonly restMs?: number
  /** Sessions that exist before. Clients use some of them; none if absent. */
  readonly resting?: number
}

/** Sessions with turns, tools and approvals; or background runs with delegation, in a queue with few slots. */
export type Scenario = 'sessions' | 'runs'

/** The share of the seeds that a scenario has: runs take about three times as long. */
export const shareOf = (scenario: Scenario, seeds: number): number => {
  const runs = Math.ceil(seeds / 5)
  return scenario === 'runs' ? runs : seeds - runs
}

/**
 * Virtual time for all clients to receive their answers, for all work to end after the last fault, and until everything
 * expires.
 */
const activeMs = 180_000
const calmMs = 45_000
const restartMs = 12_000
/** Time between two groups of clients. */
const groupMs = 5000
/** Several processes redistribute the shards, which fences actors once more. */
const sharedOutMs = 25_000
const troubleMs = 4000
/** Everything that follows from one commit is done within this time if nothing delays it. */
const quietMs = 3000
/** A write that was given up reaches the store within 15 s. */
const mergesAfterMs = 20_000

/** How long text is shown before its commit: short in some runs, and longer than most turns in others. */
const commitsOf = (seed: number) => ({ streamCommitMs: [25, 100, 1000][seed % 3] ?? 1000 })
const expiryMs = 8 * 24 * 60 * 60 * 1000

const fencesIn = (commits: readonly Commit[]): number => commits.filter(({ event }) => event.type === '$fenced').length

/** Runs one seed to its end, or to the first violation. */
export const simulate = async (seed: number, options: SimulationOptions = {}): Promise<SimulationResult> => {
  const run = new Run(seed, options)
  await inVirtualTime(run.now, () => run.live())
  const { ledger, trace, cluster } = run
  const commits = [...ledger.actors.values()].flatMap((known) => known.commits)

  return {
    ...{ seed, violations: ledger.violations, trace, commits: commits.length, processes: cluster.started },
    turns: run.turns,
    traffic: run.traffic,
    upgrade: {
      fullest: cluster.shares.fullest,
      waits: cluster.waits,
      newer: commits.filter(({ machine }) => machine === `session@${sessionDefinition.version + 1}`).length,
    },
  }
}

/** Long work is cut by time, so its cuts would be where a busy machine stands still. */
const inVirtualTime = async (now: () => number, run: () => Promise<void>): Promise<void> => {
  const real = performance.now
  performance.now = now
  try {
    await run()
  } finally {
    performance.now = real
  }
}

class Run {
  readonly trace: string[] = []
  readonly ledger: Ledger
  readonly cluster: Cluster
  readonly #random: Random
  readonly #scheduler: Scheduler
  readonly #outside: OutsideWorld
  readonly #inner
  readonly #life: Life
  readonly #rows: RowRules
  #faults: Faults
  readonly #several: boolean
  readonly #options: SimulationOptions
  readonly #network: Network | null
  readonly #startedAt: number
  readonly #counts: StoreCounts = { operations: 0, leaseOperations: 0, taken: 0, rows: {} }
  traffic: Traffic = { turns: 0, commits: 0, moves: 0, messages: 0, ms: 0, ...this.#counts }
  readonly #resting: RestingSessions | null
  #busy = 0
  #committedAt = 0

  constructor(seed: number, options: SimulationOptions) {
    const random = new Random(seed)
    const scheduler = new Scheduler(random)
    const start = scheduler.now()
    this.#options = options
    this.#startedAt = start
    const note = (text: string): void => {
      this.trace.push(`${scheduler.now() - start} ${text}`)
    }
    takeIdsFrom({ now: scheduler.now, random: new Random(`ids/${seed}`).next })
    this.#random = random
    this.#scheduler = scheduler
    const { nodes = 1, scenario } = options
    const usual = options.upgrade === true ? upgradeFaults : undefined
    const { faults = usual ?? (nodes > 1 ? clusterFaultsOf(random) : faultsOf(random)) } = options
    this.#several = nodes > 1
    const later = { ...laterFaultsOf(seed), ...(this.#several && partitionsOf(seed)) }
    this.#faults = {
      ...faults,
      ...(options.faults === undefined && usual === undefined && later),
      ...options.defect?.faults,
    }
    const network = nodes > 1 ? new Network({ scheduler, random, faults: () => this.#faults }) : null
    this.#network = network
    const { resting = 0, restMs: fromMs = 0 } = options
    const rest = { now: scheduler.now, ledger: () => this.ledger, fromMs }
    this.#resting = resting > 0 ? new RestingSessions(resting, rest) : null
    const { commits: written, records } = this.#resting ?? openMemoryStorage({ now: scheduler.now })
    const inner = { ...openMemoryStorage({ now: scheduler.now }), commits: written, records }
    this.#inner = { ...inner, leases: network?.leases ?? null }
    this.#outside = new OutsideWorld(seed, scheduler, random, note)
    this.ledger = new Ledger(note, this.#outside.chunksOf, scheduler.now)
    this.#outside.ledger = this.ledger
    this.ledger.watching.push(() => {
      this.#committedAt = scheduler.now()
    })
    note(JSON.stringify(this.#faults))
    const { ledger } = this
    const volatile = new VolatileWrites(scheduler, new Random(`volatile/${seed}`))
    const shared = {
      inner: this.#inner,
      seed,
      scheduler,
      random,
      later: new Random(`later/${seed}`),
      ledger,
      note,
      network,
      volatile,
      outside: this.#outside,
      counts: this.#counts,
    }
    this.#rows = new RowRules(ledger, this.#inner)
    const setting = scenario === 'runs' ? runSettingOf(seed) : null
    const commits = options.compaction === true ? { mergesAfterMs, streamCommitMs: 25 } : commitsOf(seed)
    const world = { ...setting, ...commits }
    if (options.compaction === true) this.#cutMerges(new Random(`merges/${seed}`))
    const parts = { ...shared, faults: () => this.#faults, defect: options.defect ?? null, world }
    this.cluster = new Cluster(parts, nodes)
    this.#note = note
    const { cluster } = this
    this.#outside.onCalled = (waitMs) => cluster.waitsNow.called.push(waitMs)
    // no effect of a simulation throws: an actor is only parked wrongly, because of processes that ended
    ledger.watching.push((commit) => ledger.expect(readParked(commit) === undefined, () => `${commit.actor} is parked`))
    const clients = { cluster, ledger, scheduler, random, note }
    this.#life = setting === null ? new SessionLife(clients, this.#resting) : new RunLife(clients, this.#inner, setting)
  }

  readonly #note: (text: string) => void

  /** Interrupts merges as if processes died; what they have begun is left as it is. */
  #cutMerges(random: Random): void {
    const { commits } = this.#inner
    if (!(commits instanceof MemoryCommits)) return
    commits.cutsMerge = () => {
      const isCut = random.chance(0.05)
      if (isCut) this.#note('a merge is cut in the middle')
      return isCut
    }
  }

  get now(): () => number {
    return this.#scheduler.now
  }

  get turns(): number {
    const known = [...this.ledger.actors.values()]
    return known.flatMap(({ events }) => events).filter(({ event_type }) => event_type === 'turn.started').length
  }

  #trafficNow(): Traffic {
    const known = [...this.ledger.actors.values()]
    return {
      ...structuredClone(this.#counts),
      turns: this.turns,
      commits: known.reduce((sum, { commits }) => sum + commits.length, -(this.#resting?.written ?? 0)),
      moves: known.reduce((sum, { commits }) => sum + Math.max(0, fencesIn(commits) - 1), 0),
      messages: this.#network?.messages ?? 0,
      ms: this.#scheduler.now() - this.#startedAt,
    }
  }

  get #broken(): boolean {
    return this.ledger.violations.length > 0
  }

  async live(): Promise<void> {
    await this.#life.prepare()
    await plantBadActors(this.#inner, this.#scheduler.now(), this.#faults.bad)
    this.cluster.startAll()
    if (this.#options.upgrade !== true) this.cluster.plan()
    this.#admit()
    await this.#until(() => this.#busy === 0, this.#options.upgrade === true ? 3 * activeMs : activeMs)
    this.traffic = this.#trafficNow()
    if (this.#broken) return
    this.ledger.expect(this.#busy === 0, () => `${this.#busy} clients wait for ever`)
    this.#heal()
    await this.#calm(calmMs)
    if (this.#broken) return
    await checkTheEnd(this.ledger, this.#outside, this.#inner, this.#scheduler.now())
    await checkLogs(this.ledger, this.#inner)
    await this.#life.checkCalm()
    await this.#rows.check()
    if (this.#broken || this.#random.chance(0.5)) return
    this.cluster.restart()
    await this.#calm(this.#several ? sharedOutMs : restartMs)
    if (this.#broken) return
    await checkTheEnd(this.ledger, this.#outside, this.#inner, this.#scheduler.now())
    await checkTidiness(this.ledger, this.#inner, this.#scheduler.now())
    await this.#life.checkRest()
    await this.#rows.check()
    // more sessions at rest than a simulation can run would end at once
    if (this.#broken || this.#resting !== null || this.#random.chance(0.5)) return
    this.#note('eight days pass')
    this.#scheduler.leap(expiryMs)
    // everything that is due at once meets a store that fails often
    this.#faults = this.#random.chance(0.5) ? { ...noFaults, refused: 0.3 } : noFaults
    await this.#until(() => false, troubleMs)
    this.#faults = noFaults
    await this.#calm(calmMs)
    if (this.#broken) return
    await checkTheEnd(this.ledger, this.#outside, this.#inner, this.#scheduler.now())
    checkExpiry(this.ledger)
    this.#life.checkExpired()
    await this.#rows.check()
  }

  /** Waits this long, and until nothing has just started: something may fall due at any time. */
  async #calm(ms: number): Promise<void> {
    await this.#until(() => false, ms)
    await this.#until(() => this.#scheduler.now() - this.#committedAt > quietMs, calmMs)
  }

  #until(done: () => boolean, ms: number): Promise<boolean> {
    return this.#scheduler.run(() => this.#broken || done(), ms)
  }

  /** Ends all faults; the last process stays. */
  #heal(): void {
    this.#note('trouble ends')
    this.#faults = noFaults
    this.cluster.heal()
  }

  #admit(): void {
    const { groups = 1, upgrade = false, restMs = 0 } = this.#options
    if (upgrade) this.#work(() => this.#upgrade())
    if (restMs > 0) this.#work(() => this.#scheduler.pause(restMs))
    for (let group = 0; group < groups; group++) {
      this.#work(async () => {
        const waitMs = restMs + group * groupMs
        if (waitMs > 0) await this.#scheduler.pause(waitMs)
        this.#life.admit((life) => this.#work(life))
      })
    }
    this.#work(() => this.#probe())
    this.#work(async () => {
      for (let round = 0; round < 5; round++) {
        await this.#scheduler.pause(this.#random.between(100, 3000))
        this.cluster.passivateSome()
      }
    })
  }

  /** An upgrade once the shards are distributed, with clients all the time. */
  async #upgrade(): Promise<void> {
    await this.#scheduler.pause(sharedOutMs)
    void this.cluster.watchShares()
    let isOver = false
    const clients = async (): Promise<void> => {
      for (; !isOver; await this.#scheduler.pause(this.#options.groupMs ?? groupMs))
        this.#life.admit((life) => this.#work(life))
    }
    this.#work(clients)
    await this.#scheduler.pause(this.#options.calmMs ?? 0)
    await this.cluster.upgrade()
    isOver = true
  }

  get #clientParts() {
    const { cluster, ledger } = this
    return { cluster, ledger, scheduler: this.#scheduler, random: this.#random, note: this.#note }
  }

  #work(work: () => Promise<void>): void {
    this.#busy++
    work().then(
      () => this.#busy--,
      (error: unknown) => this.ledger.broken(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    )
  }

  async #probe(): Promise<void> {
    const random = this.#random
    for (let round = 0; round < 6; round++) {
      await this.#scheduler.pause(random.between(50, 1500))
      const identity = random.pick(identities)
      const id = random.pick([...this.ledger.actors.keys()])
      if (identity === undefined || id === undefined) continue
      const prober = new Prober(`p${round}`, identity, this.#clientParts)
      await prober.probe(id)
      await prober.list()
    }
  }
}
