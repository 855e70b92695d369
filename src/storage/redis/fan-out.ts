import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { JsonObject } from '#machines/json.ts'
import type { ActorNews, FanOut } from '../cluster-ports.ts'
import { type Connection, openConnection } from './connection.ts'
import type { PulseOptions } from './connection-monitor.ts'
import { hintIn, newsIn } from './schema.ts'

/** Longer batches are split into several messages, so that others do not wait long behind one. */
const maxMessageLength = 512 * 1024

/**
 * Notifications over Redis' channels: one per process, and one per topic of hints. Subscribing takes a separate
 * connection.
 */
export class RedisFanOut implements FanOut {
  readonly #publisher: Connection
  readonly #subscriber: Connection
  readonly #prefix: string
  /** Identifies this instance in its messages. */
  readonly #self = randomUUID()
  readonly #receivers = new Map<string, (message: string) => void>()
  /** Channels that the current connection is subscribed to. */
  readonly #subscribed = new Set<string>()
  readonly #topics = new Map<string, Set<(data: JsonObject) => void>>()
  readonly #upListeners = new Set<() => void>()
  /** JSON texts by process, of this turn of the event loop. */
  readonly #outgoing = new Map<string, string[]>()
  #flushing = false

  /** @param pulsing options of the subscribing connection. */
  constructor(
    publisher: Connection,
    { url, prefix, pulsing }: { readonly url: string; readonly prefix: string; readonly pulsing: PulseOptions },
  ) {
    this.#publisher = publisher
    this.#prefix = prefix
    const up = (): void => {
      pulsing.up()
      this.checkUp()
    }
    this.#subscriber = openConnection(url, { ...pulsing, up }, { beat: (client) => this.#subscribeAll(client) })
    this.#subscriber.client.on('close', () => this.#subscribed.clear())
    this.#subscriber.client.on('message', (channel, message) => this.#receivers.get(channel)?.(message))
  }

  get up(): boolean {
    return this.#publisher.pulse.up && this.#subscriber.pulse.up
  }

  /** Must be called when the publisher's connection is up. */
  readonly checkUp = (): void => {
    if (this.up) for (const listener of this.#upListeners) listener()
  }

  publish(process: string, news: ActorNews): void {
    if (!this.#publisher.pulse.up) return
    const waiting = this.#outgoing.get(process)
    if (waiting === undefined) this.#outgoing.set(process, [JSON.stringify(news)])
    else waiting.push(JSON.stringify(news))
    if (this.#flushing) return
    this.#flushing = true
    setImmediate(() => this.#flush())
  }

  listen(process: string, listener: (news: readonly ActorNews[]) => void): void {
    this.#receive(this.#newsChannel(process), (message) => {
      const news = newsIn(message)
      if (news !== null) listener(news)
    })
  }

  announce(topic: string, data: JsonObject): void {
    for (const listener of this.#topics.get(topic) ?? []) queueMicrotask(() => listener(data))
    this.#send(this.#hintChannel(topic), JSON.stringify({ from: this.#self, data }))
  }

  subscribe(topic: string, listener: (data: JsonObject) => void): void {
    const listeners = this.#topics.get(topic) ?? new Set()
    this.#topics.set(topic, listeners.add(listener))
    this.#receive(this.#hintChannel(topic), (message) => {
      const hint = hintIn(message)
      if (hint !== null && hint.from !== this.#self) for (const listener of listeners) listener(hint.data)
    })
  }

  onUp(listener: () => void): void {
    this.#upListeners.add(listener)
  }

  async close(): Promise<void> {
    this.#flush()
    this.#subscriber.close()
  }

  #flush(): void {
    this.#flushing = false
    for (const [process, texts] of this.#outgoing) {
      for (const message of messagesOf(texts)) this.#send(this.#newsChannel(process), message)
    }
    this.#outgoing.clear()
  }

  #send(channel: string, message: string): void {
    if (this.#publisher.pulse.up) this.#publisher.client.publish(channel, message).catch(() => {})
  }

  #receive(channel: string, receiver: (message: string) => void): void {
    this.#receivers.set(channel, receiver)
    void this.#subscriber.pulse.beat()
  }

  async #subscribeAll(client: Redis): Promise<void> {
    const missing = [...this.#receivers.keys()].filter((channel) => !this.#subscribed.has(channel))
    if (missing.length > 0) await client.subscribe(...missing)
    for (const channel of missing) this.#subscribed.add(channel)
    await client.ping()
  }

  readonly #newsChannel = (process: string): string => `${this.#prefix}news:${process}`
  readonly #hintChannel = (topic: string): string => `${this.#prefix}hint:${topic}`
}

/** JSON arrays of these texts, as few as the maximum length allows. */
function* messagesOf(texts: readonly string[]): Generator<string> {
  let part: string[] = []
  let length = 0
  for (const text of texts) {
    if (length + text.length > maxMessageLength && part.length > 0) {
      yield `[${part.join(',')}]`
      part = []
      length = 0
    }
    part.push(text)
    length += text.length
  }
  if (part.length > 0) yield `[${part.join(',')}]`
}
