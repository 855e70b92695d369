import type { JsonObject } from '#specs/dsl/json.ts'
import type { ActorNews, FanOut } from '#storage/cluster-ports.ts'

/** Connects the fan-outs of several processes in a pure test. `up` disconnects and reconnects all of them. */
export class MemoryExchange {
  readonly #joined = new Set<MemoryFanOut>()
  #up = true

  get up(): boolean {
    return this.#up
  }

  set up(up: boolean) {
    const returned = up && !this.#up
    this.#up = up
    if (returned) for (const fanOut of this.#joined) fanOut.returned()
  }

  /** The fan-out of one process. */
  join(): FanOut {
    const fanOut = new MemoryFanOut(this)
    this.#joined.add(fanOut)
    return fanOut
  }

  leave(fanOut: MemoryFanOut): void {
    this.#joined.delete(fanOut)
  }

  send(process: string, news: readonly ActorNews[]): void {
    if (this.#up) for (const fanOut of this.#joined) fanOut.receive(process, news)
  }

  hint(from: MemoryFanOut, topic: string, data: JsonObject): void {
    for (const fanOut of this.#joined) if (this.#up || fanOut === from) fanOut.hear(topic, data)
  }
}

class MemoryFanOut implements FanOut {
  readonly #exchange: MemoryExchange
  readonly #listeners = new Map<string, (news: readonly ActorNews[]) => void>()
  readonly #topics = new Map<string, Set<(data: JsonObject) => void>>()
  readonly #upListeners = new Set<() => void>()
  readonly #outgoing = new Map<string, ActorNews[]>()

  constructor(exchange: MemoryExchange) {
    this.#exchange = exchange
  }

  get up(): boolean {
    return this.#exchange.up
  }

  publish(process: string, news: ActorNews): void {
    if (!this.up) return
    if (this.#outgoing.size === 0) setImmediate(() => this.#flush())
    const waiting = this.#outgoing.get(process)
    if (waiting === undefined) this.#outgoing.set(process, [news])
    else waiting.push(news)
  }

  listen(process: string, listener: (news: readonly ActorNews[]) => void): void {
    this.#listeners.set(process, listener)
  }

  announce(topic: string, data: JsonObject): void {
    queueMicrotask(() => this.#exchange.hint(this, topic, data))
  }

  subscribe(topic: string, listener: (data: JsonObject) => void): void {
    const listeners = this.#topics.get(topic) ?? new Set()
    this.#topics.set(topic, listeners.add(listener))
  }

  onUp(listener: () => void): void {
    this.#upListeners.add(listener)
  }

  async close(): Promise<void> {
    this.#exchange.leave(this)
  }

  receive(process: string, news: readonly ActorNews[]): void {
    this.#listeners.get(process)?.(structuredClone(news))
  }

  hear(topic: string, data: JsonObject): void {
    for (const listener of this.#topics.get(topic) ?? []) listener(structuredClone(data))
  }

  returned(): void {
    for (const listener of this.#upListeners) listener()
  }

  #flush(): void {
    const sent = [...this.#outgoing]
    this.#outgoing.clear()
    for (const [process, news] of sent) this.#exchange.send(process, news)
  }
}
