import { randomUUID } from 'node:crypto'
import type { JsonObject } from '#machines/json.ts'
import type { ActorNews, FanOut } from '../cluster-ports.ts'
import type { Connection } from './connection.ts'
import type { PulseOptions } from './connection-monitor.ts'
import { hintIn, newsIn } from './schema.ts'
import type { Subscriber } from './subscriber.ts'

/** Longer batches are split into several messages, so that others do not wait long behind one. */
const maxMessageLength = 512 * 1024

/**
 * Notifications over Redis' channels: one per process, and one per topic of hints. Subscribing takes a separate
 * connection, and two in a cluster.
 */
export class RedisFanOut implements FanOut {
  readonly #publisher: Connection
  readonly #pulsing: PulseOptions
  /** By the group of channels: a cluster has each group at one of its masters. */
  readonly #subscribers = new Map<string, { readonly channel: string; readonly subscriber: Subscriber }>()
  readonly #prefix: string
  readonly #isCluster: boolean
  /** Identifies this instance in its messages. */
  readonly #self = randomUUID()
  readonly #receivers = new Map<string, (message: string) => void>()
  readonly #topics = new Map<string, Set<(data: JsonObject) => void>>()
  readonly #upListeners = new Set<() => void>()
  /** JSON texts by process, of this turn of the event loop. */
  readonly #outgoing = new Map<string, string[]>()
  #flushing = false

  /** @param pulsing options of the subscribing connections. */
  constructor(
    publisher: Connection,
    {
      prefix,
      isCluster,
      pulsing,
    }: { readonly prefix: string; readonly isCluster: boolean; readonly pulsing: PulseOptions },
  ) {
    this.#publisher = publisher
    this.#prefix = prefix
    this.#isCluster = isCluster
    const up = (): void => {
      pulsing.up()
      this.checkUp()
    }
    this.#pulsing = { ...pulsing, up }
  }

  get up(): boolean {
    const all = [...this.#subscribers.values()]
    if (all.length === 0) return this.#publisher.up
    return all.every(({ channel, subscriber }) => subscriber.up && this.#publisher.reaches(channel))
  }

  /** Must be called when a server of the publisher's connection is up. */
  readonly checkUp = (): void => {
    if (this.up) for (const listener of this.#upListeners) listener()
  }

  publish(process: string, news: ActorNews): void {
    if (!this.#publisher.reaches(this.#newsChannel(process))) return
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
    this.#publisher.publish(this.#hintChannel(topic), JSON.stringify({ from: this.#self, data }))
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
    for (const { subscriber } of this.#subscribers.values()) subscriber.close()
  }

  #flush(): void {
    this.#flushing = false
    for (const [process, texts] of this.#outgoing) {
      for (const message of messagesOf(texts)) this.#publisher.publish(this.#newsChannel(process), message)
    }
    this.#outgoing.clear()
  }

  #receive(channel: string, receiver: (message: string) => void): void {
    this.#receivers.set(channel, receiver)
    const group = this.#groupOf(channel)
    const known = this.#subscribers.get(group)
    known?.subscriber.renew()
    if (known !== undefined) return
    const channels = () => [...this.#receivers.keys()].filter((each) => this.#groupOf(each) === group)
    const heard = (from: string, message: string): void => this.#receivers.get(from)?.(message)
    const subscriber = this.#publisher.subscriber({ ...this.#pulsing, channel, channels, heard })
    this.#subscribers.set(group, { channel, subscriber })
  }

  #groupOf(channel: string): string {
    const isOwn = this.#isCluster && !channel.startsWith(this.#hintChannel(''))
    return isOwn ? channel : ''
  }

  readonly #newsChannel = (process: string): string => `${this.#prefix}news:${process}`
  /** In a cluster, the braces keep all topics at one master, so that one connection receives them. */
  readonly #hintChannel = (topic: string): string => `${this.#prefix}${this.#isCluster ? '{hint}' : 'hint'}:${topic}`
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
