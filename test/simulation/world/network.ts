import { type PeerAnswer, PeerGone, type PeerService, type Peers } from '#runtime/messages/peers.ts'
import type { ActorNews, FanOut, Presence } from '#storage/cluster-ports.ts'
import { type JsonObject, StoreUnavailable } from '#storage/ports.ts'
import { MemoryLeases } from '#test/support/memory/leases.ts'
import { MemoryPresence } from '#test/support/memory/presence.ts'
import type { Faults } from './faults.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { latencyMs, type SimProcess } from './sim-process.ts'

/** How long a process waits for the answer of another one, in ms. */
const answerMs = 5000

/** The parts of the network between processes. */
export interface NetworkParts {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly faults: () => Faults
}

interface Listening {
  readonly process: SimProcess
  readonly service: PeerService
}

/** What connects the processes of a cluster apart from the store: a directory, messages, and requests to each other. */
export class Network {
  readonly leases: MemoryLeases
  /** Requests between processes and notifications that were sent. */
  messages = 0
  readonly #parts: NetworkParts
  readonly #presence: MemoryPresence
  readonly #listening = new Map<string, Listening>()
  readonly #fanOuts = new Set<SimFanOut>()
  /** Pairs of processes that do not reach each other. */
  readonly #apart = new Set<string>()

  constructor(parts: NetworkParts) {
    this.#parts = parts
    this.leases = new MemoryLeases(parts.scheduler.now)
    this.#presence = new MemoryPresence(parts.scheduler.now)
  }

  /** Makes the directory and the messages unavailable for a while; the contents of the directory are lost. */
  cutOff(ms: number): void {
    this.#presence.up = false
    this.#parts.scheduler.after(ms, () => {
      this.#presence.up = true
      for (const fanOut of this.#fanOuts) fanOut.returned()
    })
  }

  /** Cuts two processes off from each other for this time. */
  partition(one: SimProcess, other: SimProcess, ms: number): void {
    const pair = pairOf(one, other)
    this.#apart.add(pair)
    this.#parts.scheduler.after(ms, () => this.#apart.delete(pair))
  }

  /** Connects all processes again. */
  heal(): void {
    this.#apart.clear()
  }

  serve(address: string, process: SimProcess, service: PeerService): void {
    this.#listening.set(address, { process, service })
  }

  /** The directory, as one process reaches it. */
  presenceFor(process: SimProcess): Presence {
    const { random } = this.#parts
    return new Proxy<Presence>(this.#presence, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: readonly unknown[]) =>
          new Promise((resolve) => {
            process.after(latencyMs(random), async () => resolve(await Reflect.apply(method, target, args)))
          })
      },
    })
  }

  fanOutFor(process: SimProcess): FanOut {
    const fanOut = new SimFanOut(process, {
      ...this.#parts,
      up: () => this.#presence.up,
      sent: () => this.messages++,
      others: this.#fanOuts,
    })
    this.#fanOuts.add(fanOut)
    return fanOut
  }

  /** Requests to other processes, which can fail as connections do. */
  peersFor(process: SimProcess): Peers {
    return {
      request: (address, request) =>
        new Promise<PeerAnswer>((resolve, reject) => {
          this.messages++
          const { random, faults } = this.#parts
          const peer = this.#listening.get(address)
          const { cut } = faults()
          const [questionLost, answerLost] = [random.chance(cut), random.chance(cut)]
          const apart = (): boolean => peer !== undefined && this.#apart.has(pairOf(process, peer.process))
          const requested = structuredClone(request)
          const gone = (): void => reject(new PeerGone('nobody listens'))
          const lost = (): void => reject(new StoreUnavailable('the answer was lost'))
          if (peer === undefined || peer.process.dead) {
            process.after(latencyMs(random), gone)
            return
          }
          process.after(answerMs, lost)
          // the sender is not notified that the request does not arrive
          if (apart()) return
          if (questionLost) {
            process.after(latencyMs(random), lost)
            return
          }
          peer.process
            .call(async () => structuredClone(await peer.service(requested)))
            .then(
              (answer) => apart() || process.enter(() => (answerLost ? lost() : resolve(answer))),
              (error: unknown) =>
                apart() || process.enter(() => (isConnection(error) || answerLost ? lost() : reject(error))),
            )
        }),
    }
  }
}

const pairOf = (one: SimProcess, other: SimProcess): string => [one.name, other.name].sort().join(' ')

const isConnection = (error: unknown): boolean => error instanceof Error && error.name === 'ConnectionLost'

interface FanOutParts extends NetworkParts {
  readonly sent: () => void
  readonly up: () => boolean
  readonly others: ReadonlySet<SimFanOut>
}

/** Messages from one process to others: in order, if they arrive at all. */
class SimFanOut implements FanOut {
  readonly #process: SimProcess
  readonly #parts: FanOutParts
  readonly #listeners = new Map<string, (news: readonly ActorNews[]) => void>()
  readonly #topics = new Map<string, ((data: JsonObject) => void)[]>()
  readonly #onUp: (() => void)[] = []
  #arrival = 0

  constructor(process: SimProcess, parts: FanOutParts) {
    this.#process = process
    this.#parts = parts
  }

  get up(): boolean {
    return this.#parts.up()
  }

  publish(process: string, news: ActorNews): void {
    const sent = structuredClone(news)
    this.#send((other) => other.#listeners.get(process)?.([structuredClone(sent)]))
  }

  listen(process: string, listener: (news: readonly ActorNews[]) => void): void {
    this.#listeners.set(process, listener)
  }

  announce(topic: string, data: JsonObject): void {
    this.#send((other) => {
      for (const listener of other.#topics.get(topic) ?? []) listener(data)
    })
  }

  subscribe(topic: string, listener: (data: JsonObject) => void): void {
    this.#topics.set(topic, [...(this.#topics.get(topic) ?? []), listener])
  }

  onUp(listener: () => void): void {
    this.#onUp.push(listener)
  }

  async close(): Promise<void> {}

  returned(): void {
    this.#process.enter(() => {
      for (const listener of this.#onUp) listener()
    })
  }

  #send(arrive: (other: SimFanOut) => void): void {
    const { scheduler, random, others, faults, sent } = this.#parts
    sent()
    if (!this.up || random.chance(faults().cut)) return
    this.#arrival = Math.max(this.#arrival, scheduler.now() + latencyMs(random))
    for (const other of others) {
      scheduler.after(this.#arrival - scheduler.now(), () => this.up && other.#process.enter(() => arrive(other)))
    }
  }
}
