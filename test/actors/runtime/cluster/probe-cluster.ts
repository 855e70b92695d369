import { pino } from 'pino'
import type { Clock } from '#runtime/clock.ts'
import { type PeerAnswer, PeerGone, type PeerRequest, type PeerService, type Peers } from '#runtime/messages/peers.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import type { Delivered, Resident } from '#runtime/resident.ts'
import { epochs, type Runtime, startRuntime, stuckRows } from '#runtime/runtime.ts'
import { type Storage, type StoredEvent, StoreUnavailable } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { MemoryExchange } from '#test/support/memory/fan-out.ts'
import { MemoryLeases } from '#test/support/memory/leases.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { MemoryPresence } from '#test/support/memory/presence.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { owner, type ProbeEffects, probeEffects, probeRows } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'

type State = 'up' | 'stalled' | 'dead'

/** A process that a test can stop, wake and kill: its timers, its store and its peers go through here. */
class TestProcess {
  state: State = 'up'
  /** Its store cannot be reached. */
  storeAway = false
  #waking: (() => void)[] = []

  /** Runs `work` unless the process is dead, and not before it is awake. */
  async enter<T>(work: () => T | Promise<T>): Promise<T> {
    await this.#awake()
    const result = await work()
    await this.#awake()
    return result
  }

  /** As `enter`, over a connection to the store. */
  call<T>(work: () => T | Promise<T>): Promise<T> {
    return this.enter(() => {
      if (this.storeAway) throw new StoreUnavailable('away')
      return work()
    })
  }

  wake(): void {
    this.state = 'up'
    for (const go of this.#waking.splice(0)) go()
  }

  clock(shared: VirtualClock): Clock {
    return {
      now: shared.now,
      steady: shared.steady,
      soon: (work) => shared.soon(() => void this.enter(work)),
      after: (ms, work) => {
        let cancelled = false
        const cancel = shared.after(ms, () => void this.enter(() => (cancelled ? undefined : work())))
        return () => {
          cancelled = true
          cancel()
        }
      },
    }
  }

  /** `target`, a store when `through` is `call`, as this process reaches it. */
  reaching<T extends object>(target: T, through: 'call' | 'enter' = 'call'): T {
    return new Proxy(target, {
      get: (_, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: readonly unknown[]) => this[through]((): unknown => Reflect.apply(method, target, args))
      },
    })
  }

  async #awake(): Promise<void> {
    while (this.state === 'stalled') await new Promise<void>((resolve) => this.#waking.push(resolve))
    if (this.state === 'dead') await new Promise<never>(() => {})
  }
}

/** One node: a runtime in its own process, as far as a test can see. */
export interface TestNode {
  readonly name: string
  readonly address: string
  readonly process: TestProcess
  readonly runtime: Runtime
  readonly host: Runtime['host']
  create(id: string, cause?: string): Promise<Delivered>
  /** As a request does: finds the actor, then delivers to it. */
  deliver(id: string, event: StoredEvent, cause?: string): Promise<Delivered>
  find(id: string): Promise<Resident>
  /** Ends the process abruptly. */
  kill(): void
  /** SIGSTOP. */
  stall(): void
  /** SIGCONT. */
  wake(): void
}

/** What the nodes share. */
export class ProbeCluster {
  readonly clock = new VirtualClock()
  readonly storage: Storage
  readonly leases: MemoryLeases
  readonly presence: MemoryPresence
  readonly exchange = new MemoryExchange()
  readonly nodes: TestNode[] = []
  /** Every request of one node to another, in order. */
  readonly requests: PeerRequest[] = []
  /** Called with each request and the address of its receiver; may delay or fail the request. */
  onRequest: (request: PeerRequest, address: string) => Promise<void> | void = () => {}
  /** What the machine of all nodes reports of a node's process; absent: each node has its own machine. */
  hasEnded: ((node: string) => boolean) | undefined
  /** Called with the address of a connection that broke. */
  readonly #lost: ((address: string) => void)[] = []
  readonly #services = new Map<string, { readonly process: TestProcess; readonly service: PeerService }>()
  readonly #effects: ProbeEffects
  #started = 0
  #causes = 0

  constructor(effects: ProbeEffects = {}) {
    this.#effects = effects
    this.leases = new MemoryLeases(this.clock.now)
    this.presence = new MemoryPresence(this.clock.now)
    this.storage = { ...openMemoryStorage({ now: this.clock.now }), leases: this.leases }
  }

  /** Starts a node, of a release with this machine. */
  async start(name = `n${this.#started + 1}`, definition = probeDefinition): Promise<TestNode> {
    this.#started++
    const process = new TestProcess()
    const address = `${name}:${this.#started}`
    const { clock } = this
    await this.storage.records.prepare([epochs, probeRows, stuckRows])
    const { commits, records, blobs } = this.storage
    const leases = process.reaching(this.leases)
    const storage = {
      ...this.storage,
      leases,
      commits: process.reaching(commits),
      records: process.reaching(records),
      blobs: process.reaching(blobs),
    }
    const starting = startRuntime({
      storage,
      definitions: [definition],
      rows: { probe: probeRows },
      clock: process.clock(clock),
      log: pino({ level: globalThis.process.env.PROBE_LOG ?? 'silent' }),
      effects: () => probeEffects(this.#effects),
      cluster: {
        leases,
        presence: process.reaching(this.presence, 'enter'),
        fanOut: this.exchange.join(),
        peers: this.#peersOf(process),
        self: { node: name, address, mark: name },
        ...(this.hasEnded && { hasEnded: this.hasEnded }),
        serve: (service) => this.#services.set(address, { process, service }),
      },
    })
    const runtime = await this.#settled(starting)
    const node = this.#nodeOf(name, address, process, runtime)
    this.nodes.push(node)
    return node
  }

  /** Starts nodes, and waits until the shards are spread over them. */
  async startAll(count: number): Promise<readonly TestNode[]> {
    for (let started = 0; started < count; started++) await this.start()
    await this.clock.advance(20_000)
    return this.nodes
  }

  /** The node that runs an actor, according to the nodes. */
  ownerOf(id: string): TestNode {
    const owner = this.nodes.find(
      ({ process, host }) => process.state === 'up' && host.ownership.heldUnder(shardsOf({}).of(id)) !== undefined,
    )
    if (owner === undefined) throw new Error(`nobody runs ${id}`)
    return owner
  }

  /** A running node other than these. */
  otherThan(...nodes: readonly TestNode[]): TestNode {
    const other = this.nodes.find((node) => node.process.state === 'up' && !nodes.includes(node))
    if (other === undefined) throw new Error('there is no other node')
    return other
  }

  /** The result of `work`, while virtual time advances. */
  async during<T>(work: Promise<T>, ms = 10_000): Promise<T> {
    return this.#settled(work, ms)
  }

  async #settled<T>(work: Promise<T>, ms = 10_000): Promise<T> {
    let over = false
    const end = (): void => {
      over = true
    }
    work.then(end, end)
    for (let passed = 0; !over && passed < ms; passed += 50) await this.clock.advance(50)
    return work
  }

  /** Makes the peers that are connected to it see a broken connection. */
  breakConnectionsTo({ address }: TestNode): void {
    for (const listener of this.#lost) listener(address)
  }

  #peersOf(asker: TestProcess): Peers {
    return {
      onLost: (listener) => {
        this.#lost.push((address) => void asker.enter(() => listener(address)))
      },
      request: (address, request, signal) =>
        asker.enter(async (): Promise<PeerAnswer> => {
          this.requests.push(request)
          await this.onRequest(request, address)
          const peer = this.#services.get(address)
          if (peer === undefined || peer.process.state === 'dead') throw new PeerGone('refused')
          const answer = peer.process.enter(() => peer.service(structuredClone(request), signal))
          return structuredClone(await Promise.race([answer, this.#cut(peer.process)]))
        }),
    }
  }

  /** Rejects when the process dies, as its connections end with it. */
  async #cut(process: TestProcess): Promise<never> {
    while (process.state !== 'dead') await new Promise<void>((resolve) => this.clock.after(100, resolve))
    throw new StoreUnavailable('the connection was cut')
  }

  #nodeOf(name: string, address: string, process: TestProcess, runtime: Runtime): TestNode {
    const { host } = runtime
    const scope = projectScope(owner.project)
    const causeOf = (): string => `c${++this.#causes}`
    return {
      name,
      address,
      process,
      runtime,
      host,
      create: (id, cause = causeOf()) => host.create({ kind: probeDefinition, id, owner, input: {}, cause }),
      deliver: async (id, event, cause = causeOf()) =>
        host.deliverTo(await host.find(scope, probeDefinition, id), { event, cause }),
      find: (id) => host.find(scope, probeDefinition, id),
      kill: () => {
        process.state = 'dead'
        this.#services.delete(address)
      },
      stall: () => {
        process.state = 'stalled'
      },
      wake: () => process.wake(),
    }
  }
}
