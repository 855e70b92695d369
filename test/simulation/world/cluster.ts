import { epochs } from '#runtime/runtime.ts'
import { projectScope } from '#storage/scope.ts'
import type { Faults } from './faults.ts'
import { type Node, type NodeParts, type Server, startNode } from './node.ts'
import type { Random } from './random.ts'
import { ConnectionLost } from './sim-process.ts'
import { nextDefinitions, Shares } from './upgrade.ts'
import { noWaits } from './waits.ts'

/** How long a process that is drained lets effects run, in ms. */
const graceMs = 4000

/**
 * The processes on one store. Without leases there is usually one, for a while none, or an old one next to the new one;
 * with leases there are several, and any of them accepts any request.
 */
export class Cluster {
  readonly #parts: NodeParts
  /** Number of processes that should run. */
  readonly size: number
  readonly #nodes: Node[] = []
  /** Draws the faults that were added later, so that existing seeds keep their course. */
  readonly #later: Random
  #started = 0
  #healed = false
  #awayUntil = 0
  /** Whether processes that start are of the next release. */
  #isNext = false
  readonly shares = new Shares()
  /** Waits before, during and after an upgrade: of what began in that time. */
  readonly waits = { before: noWaits(), during: noWaits(), after: noWaits() }
  #phase: keyof typeof this.waits = 'before'

  /** @param size the number of processes; more than one needs a network. */
  constructor(parts: NodeParts, size = 1) {
    this.size = size
    this.#later = parts.later
    const faults = (): Faults => {
      const away = !this.#healed && parts.scheduler.now() < this.#awayUntil
      return away ? { ...parts.faults(), refused: 1 } : parts.faults()
    }
    this.#parts = { ...parts, faults }
  }

  /** The waits of what begins now. */
  get waitsNow() {
    return this.waits[this.#phase]
  }

  get started(): number {
    return this.#started
  }

  /** The living processes, the owner of the actors last: a process that has not started yet will take a later epoch. */
  get alive(): readonly Node[] {
    const epochOf = ({ server }: Node): number => server?.host.epoch ?? Number.MAX_SAFE_INTEGER
    return this.#nodes.filter(({ process }) => !process.dead).sort((a, b) => epochOf(a) - epochOf(b))
  }

  /** Whether a replaced process runs next to the only regular one: the replaced one may know less. */
  get hasReplaced(): boolean {
    return this.size === 1 && this.alive.length > 1
  }

  /** Starts all processes. */
  startAll(): void {
    for (let count = 0; count < this.size; count++) this.start()
  }

  /** Starts a process now, and another one whenever it dies. */
  start(): void {
    const node = startNode(`p${++this.#started}`, this.#parts, this.#isNext ? nextDefinitions : undefined)
    this.#nodes.push(node)
    node.process.connected(() => this.#restart())
  }

  /** Plans the crashes and stalls of a run. */
  plan(): void {
    if (this.size === 1) void this.#supervise()
    const { faults, scheduler, random } = this.#parts
    const { crashes, zombies, outages, directoryOutages, drains, jumps, forgets, partitions } = faults()
    const sometime = (): number => (random.chance(0.5) ? random.between(50, 2500) : random.between(500, 12_000))
    for (let crash = 0; crash < crashes; crash++) scheduler.after(sometime(), () => this.#crash())
    for (let zombie = 0; zombie < zombies; zombie++) scheduler.after(sometime(), () => this.#stall())
    for (let outage = 0; outage < outages; outage++) scheduler.after(sometime(), () => this.#cutOff())
    for (let count = 0; count < directoryOutages; count++) scheduler.after(sometime(), () => this.#loseDirectory())
    for (let jump = 0; jump < jumps; jump++) scheduler.after(this.#later.between(100, 12_000), () => this.#jump())
    for (let count = 0; count < partitions; count++)
      scheduler.after(this.#later.between(100, 12_000), () => this.#partition())
    for (let kill = 0; kill < forgets; kill++)
      scheduler.after(this.#later.between(100, 12_000), () => this.#killStore())
    for (let drain = 0; drain < drains; drain++) scheduler.after(sometime(), () => void this.#drain())
  }

  /** Notes how the shards are distributed from now on. */
  async watchShares(): Promise<void> {
    const { network, scheduler } = this.#parts
    for (; !this.#healed && network !== null; await scheduler.pause(250)) {
      const table = await network.leases.read()
      this.shares.note(table, new Set(this.alive.map(({ process }) => process.name)), scheduler.now())
    }
  }

  /** Replaces every process by one of the next release, a twentieth at a time; each second time only once successors have started. */
  async upgrade(): Promise<void> {
    const { scheduler, note } = this.#parts
    note('an upgrade begins')
    this.#phase = 'during'
    this.#isNext = true
    const old = this.alive
    const atOnce = Math.ceil(this.size / 20)
    for (let from = 0, step = 0; from < old.length; from += atOnce, step++) {
      const leaving = old.slice(from, from + atOnce)
      if (step % 4 === 0) this.plan()
      if (step % 2 === 1) {
        for (const _ of leaving) this.start()
        await scheduler.pause(this.#later.between(500, 3000))
      }
      await Promise.all(leaving.map((node) => this.#end(node)))
      await scheduler.pause(this.#later.between(500, 5000))
    }
    note('the upgrade ends')
    this.#phase = 'after'
  }

  /** Restores the number of processes, and ends all faults. */
  heal(): void {
    this.#healed = true
    for (const { process } of this.alive.slice(0, -this.size)) process.crash()
    for (const { process } of this.alive) {
      process.setClock('right')
      process.cutOffFromStore(0)
    }
    this.#parts.network?.heal()
  }

  /** Ends every process, and starts as many. */
  restart(): void {
    for (const { process } of this.alive) process.crash()
    this.startAll()
  }

  /** Removes idle actors from memory at any moment, as a full host does. */
  passivateSome(): void {
    for (const { server, process } of this.alive) {
      if (server === undefined) continue
      process.enter(() => {
        for (const resident of [...server.host.residents()]) {
          if (this.#parts.random.chance(0.3)) server.host.passivate(resident)
        }
      })
    }
  }

  /** Sends a request to a process, as a load balancer would: usually the newest. @throws {ConnectionLost} */
  async call<T>(work: (server: Server, node: Node) => Promise<T>): Promise<T> {
    const ready = this.alive.filter(({ server }) => server !== undefined)
    const anyone = this.size > 1 || this.#parts.random.chance(0.3)
    const node = anyone ? this.#parts.random.pick(ready) : ready.at(-1)
    const server = node?.server
    if (node === undefined || server === undefined) throw new ConnectionLost()
    return node.process.call(() => work(server, node))
  }

  #crash(): void {
    const victim = this.#healed ? undefined : this.#parts.random.pick(this.alive)
    if (victim === undefined) return
    this.#parts.note(`${victim.process.name} crashes`)
    victim.process.crash()
  }

  /** Stalls the process, starts another one, wakes the old one, and finally kills it. */
  #stall(): void {
    const { random, scheduler, note } = this.#parts
    const victim = this.#healed ? undefined : this.size > 1 ? random.pick(this.alive) : this.alive.at(-1)
    if (victim === undefined) return
    const stallMs = random.between(200, 8000)
    note(`${victim.process.name} stalls for ${stallMs} ms`)
    victim.process.stall(stallMs)
    if (this.size > 1) return
    scheduler.after(random.between(0, 2500), () => this.#healed || this.start())
    scheduler.after(stallMs + random.between(100, 5000), () => {
      const [oldest, ...others] = this.alive
      if (oldest === undefined || others.length === 0) return
      note(`${oldest.process.name} is ended`)
      oldest.process.crash()
    })
  }

  /** Makes the store unreachable for a while. */
  #cutOff(): void {
    const { random, scheduler, note } = this.#parts
    const ms = random.between(300, 5000)
    note(`the store is away for ${ms} ms`)
    this.#awayUntil = Math.max(this.#awayUntil, scheduler.now() + ms)
  }

  /** Kills and restarts the store: it has lost what it had acknowledged without its journal. */
  #killStore(): void {
    const { scheduler, note, volatile } = this.#parts
    if (this.#healed) return
    note(`the store is killed, and forgets ${volatile.forget()} writes`)
    this.#awayUntil = Math.max(this.#awayUntil, scheduler.now() + this.#later.between(200, 2000))
  }

  /** Sets the wall clock of a process. */
  #jump(): void {
    const { note } = this.#parts
    const victim = this.#healed ? undefined : this.#later.pick(this.alive)
    if (victim === undefined) return
    const ms = this.#later.between(-20_000, 20_000)
    note(`the clock of ${victim.process.name} jumps by ${ms} ms`)
    victim.process.setClock(ms)
  }

  /** Cuts one process off from the store for a while, or two from each other; the others continue. */
  #partition(): void {
    const { note, network } = this.#parts
    const [one, other] = [this.#later.pick(this.alive), this.#later.pick(this.alive)]
    if (this.#healed || one === undefined || other === undefined) return
    const ms = this.#later.between(300, 9000)
    if (one === other || this.#later.chance(0.5)) {
      note(`${one.process.name} is cut off from the store for ${ms} ms`)
      one.process.cutOffFromStore(ms)
    } else {
      note(`${one.process.name} and ${other.process.name} are cut off from each other for ${ms} ms`)
      network?.partition(one.process, other.process, ms)
    }
  }

  /** Makes the directory and the messages between processes unavailable for a while. */
  #loseDirectory(): void {
    const { random, note, network } = this.#parts
    const ms = random.between(300, 6000)
    note(`the directory is away for ${ms} ms`)
    network?.cutOff(ms)
  }

  /** SIGTERM: the process hands over its actors, and ends. */
  async #drain(): Promise<void> {
    const { random } = this.#parts
    const victim = this.#healed ? undefined : random.pick(this.alive.filter(({ server }) => server !== undefined))
    if (victim !== undefined) void this.#end(victim)
  }

  /** Resolves when the process has ended. */
  async #end(victim: Node): Promise<void> {
    const { server, process } = victim
    if (server === undefined) process.crash()
    if (server === undefined || process.dead) return
    this.#parts.note(`${process.name} is told to end`)
    victim.server = undefined
    const ended = new Promise<void>((resolve) => process.connected(resolve))
    process.enter(() => void server.runtime.drain(graceMs).then(() => process.crash()))
    await ended
  }

  #restart(): void {
    const { scheduler, random } = this.#parts
    scheduler.after(random.between(0, 1200), () => {
      if (this.alive.length < this.size) this.start()
    })
  }

  /** Without leases a replaced process cannot take its actors back: it is ended once its successor is gone. */
  async #supervise(): Promise<void> {
    const { scheduler, inner } = this.#parts
    const newest = await inner.records.get(epochs, projectScope('system'), 'epoch')
    const replaced = ({ server }: Node): boolean => server !== undefined && server.host.epoch < (newest?.version ?? 0)
    if (this.alive.every(replaced)) for (const { process } of this.alive) process.crash()
    scheduler.after(500, () => this.#supervise())
  }
}
