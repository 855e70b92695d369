import { Random } from '#test/simulation/world/random.ts'
import type { ClusterNode } from '../cluster/local-cluster.ts'
import { type ChaosWorld, isUp, type KilledStore } from './chaos-world.ts'
import type { Disturbance, DisturbanceKind, Wire } from './disturbance-plan.ts'
import type { DisturbedPeriods } from './disturbed-periods.ts'
import type { Takeovers } from './takeovers.ts'
import type { Problem } from './verdict.ts'

export interface DisturberParts {
  readonly world: ChaosWorld
  readonly takeovers: Takeovers
  /** Records the periods of all disturbances other than kills. */
  readonly spans: DisturbedPeriods
  readonly seed: number
  readonly say: (line: string) => void
}

/**
 * Maximum factor by which a run may exceed its plan, on a slow machine whose nodes take long to start; the remaining
 * disturbances are then skipped.
 */
const slowFactor = 3

/** Maximum number of attempts to start a node. */
const startAttempts = 20
const startPauseMs = 500

/** Carries out a plan on a real cluster; at least one node is always left undisturbed. */
export class Disturber {
  /** Number of disturbances by kind. */
  readonly done: Record<DisturbanceKind, number> = {
    ...{ kill: 0, pause: 0, restart: 0, redis: 0, mongod: 0, cut_mongod: 0, cut_redis: 0, cut_peers: 0 },
  }
  /** Processes that ended unexpectedly or with an error. */
  readonly problems: Problem[] = []
  /** Times in ms from the start of a killed node to its first acknowledged turn. */
  readonly restartsMs: number[] = []
  /** Those during which nothing else was disturbed. */
  readonly calmRestartsMs: number[] = []
  readonly #parts: DisturberParts
  readonly #random: Random
  readonly #taken = new Set<ClusterNode>()
  readonly #stores = new Set<string>()
  readonly #measured: Promise<void>[] = []
  #until = 0

  constructor(parts: DisturberParts) {
    this.#parts = parts
    this.#random = new Random(`targets:${parts.seed}`)
    for (const node of parts.world.cluster.nodes) this.#watch(node)
  }

  /** Resolves when all disturbances are done and healed. */
  async run(plan: readonly Disturbance[]): Promise<void> {
    const startedAt = performance.now()
    this.#until = startedAt + slowFactor * (plan.at(-1)?.atMs ?? 0)
    const under: Promise<void>[] = []
    for (const disturbance of plan) {
      await wait(startedAt + disturbance.atMs - performance.now())
      under.push(this.#carryOut(disturbance).catch((error: unknown) => this.#broken(String(error))))
    }
    await Promise.all(under)
    await Promise.all(this.#measured)
  }

  async #carryOut({ kind, forMs }: Disturbance): Promise<void> {
    const { cluster, mongod } = this.#parts.world
    if (kind === 'redis') return this.#killStore('redis', cluster.redis, forMs)
    if (kind === 'mongod') return this.#killStore('mongod', mongod, forMs)
    if (kind === 'cut_mongod') return this.#cut('mongod', forMs)
    if (kind === 'cut_redis') return this.#cut('redis', forMs)
    if (kind === 'cut_peers') return this.#cut('peers', forMs)
    const node = await this.#spare()
    if (node === undefined) return
    this.#note(kind, `${kind} ${node.name} for ${forMs} ms`)
    if (kind === 'kill') await this.#kill(node, forMs)
    else if (kind === 'pause') await this.#pause(node, forMs)
    else await this.#restart(node, forMs)
    this.#taken.delete(node)
  }

  async #kill(node: ClusterNode, forMs: number): Promise<void> {
    const table = await this.#parts.world.leases()
    await node.kill9()
    this.#measured.push(this.#parts.takeovers.measure(node.name, table, performance.now()))
    await wait(forMs)
    const startedAt = performance.now()
    await this.#start(node)
    this.#measured.push(this.#firstTurn(node, startedAt))
  }

  async #firstTurn(node: ClusterNode, startedAt: number): Promise<void> {
    const tookMs = await this.#parts.takeovers.firstTurnAt(node.url, startedAt)
    if (tookMs === null) return
    this.restartsMs.push(tookMs)
    if (this.#parts.spans.spare(startedAt, startedAt + tookMs)) this.calmRestartsMs.push(tookMs)
    this.#parts.say(`${node.name} acknowledged a turn ${Math.round(tookMs)} ms after its start`)
  }

  async #pause(node: ClusterNode, forMs: number): Promise<void> {
    const end = this.#parts.spans.begin()
    node.pause()
    await wait(forMs)
    node.resume()
    end()
  }

  async #restart(node: ClusterNode, forMs: number): Promise<void> {
    const startedAt = performance.now()
    const code = await node.term()
    this.#parts.say(`${node.name} ended ${Math.round(performance.now() - startedAt)} ms after SIGTERM`)
    if (code !== 0) this.#broken(`${node.name} ended with ${code} on SIGTERM`)
    await wait(forMs)
    await this.#start(node)
  }

  /**
   * Starts a node like a process supervisor, repeatedly, since a node does not start while its store is unavailable.
   */
  async #start(node: ClusterNode): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await node.restart()
        return this.#watch(node)
      } catch (error) {
        if (attempt === startAttempts) throw error
        this.#parts.say(`${node.name} did not start yet`)
        await wait(startPauseMs)
      }
    }
  }

  async #killStore(name: 'redis' | 'mongod', store: KilledStore, forMs: number) {
    if (this.#stores.has(name)) return
    this.#stores.add(name)
    this.#note(name, `kill ${name} for ${forMs} ms`)
    const end = this.#parts.spans.begin()
    await store.kill9()
    await wait(forMs)
    await store.restart()
    end()
    this.#stores.delete(name)
  }

  async #cut(wire: Wire, forMs: number): Promise<void> {
    if (this.#parts.world.wires.length === 0) return
    const at = this.#random.between(0, this.#parts.world.wires.length - 1)
    this.#note(`cut_${wire}`, `cut node-${at + 1} from ${wire} for ${forMs} ms`)
    const end = this.#parts.spans.begin()
    this.#parts.world.wires[at]?.[wire].cut()
    await wait(forMs)
    this.#parts.world.wires[at]?.[wire].heal()
    end()
  }

  /** Picks a node that can be disturbed while another one runs; undefined when none is found in time. */
  async #spare(): Promise<ClusterNode | undefined> {
    while (performance.now() < this.#until) {
      const free = this.#parts.world.cluster.nodes.filter((node) => isUp(node) && !this.#taken.has(node))
      const node = free.length > 1 ? this.#random.pick(free) : undefined
      if (node !== undefined) {
        this.#taken.add(node)
        return node
      }
      await wait(50)
    }
    return undefined
  }

  #note(kind: DisturbanceKind, line: string): void {
    this.done[kind]++
    this.#parts.say(line)
  }

  #broken(what: string): void {
    this.problems.push({ kind: 'broken', what })
  }

  /** Reports a process that ends without having been disturbed. */
  #watch(node: ClusterNode): void {
    void node.exited.then((code) => {
      if (!this.#taken.has(node) && this.isWatching) this.#broken(`${node.name} ended by itself with ${code}`)
    })
  }

  /** False once the cluster is being shut down. */
  isWatching = true
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
