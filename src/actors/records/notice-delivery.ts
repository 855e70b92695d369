import type { Logger } from 'pino'
import { definitionOf, type MachineDefinition } from '#machines/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { MessageRecord, RecordKind, RecordStore, StoredRecord } from '#storage/index.ts'
import { type Clock, isObject, pause } from '../runtime/index.ts'
import { type MessageHost, Rounds, type Sinks, within } from '../runtime/internal.ts'
import { boundRecords } from './bound-records.ts'

/** Intervals of the search for undelivered notices, in ms: of one process, and of one for each process that runs. */
const [everyMs, everyMsOfEach] = [2_000, 500]
/** Age in ms from which any process delivers a notice; younger ones are left to the process that wrote them. */
const ownersTurnMs = 3_000
const pageSize = 200
const atOnce = 16
/** How long a request waits for deliveries, in ms. */
const patienceMs = 2_000

export interface Receivers {
  /** How many processes run: together they search as often as a few do. One when absent. */
  readonly processes?: () => number
  readonly host: Pick<MessageHost, 'deliver' | 'create'>
  readonly sinks: Sinks
}

/** Dependencies of `NoticeDelivery`. */
export interface NoticeParts {
  /** Every kind of record that there is. */
  readonly kinds: readonly RecordKind[]
  /** Every machine: the prefix of a message's address shows which machine's actor it is for. */
  readonly definitions: readonly MachineDefinition[]
  readonly clock: Clock
  readonly log: Logger
}

interface Letter {
  readonly kind: RecordKind
  readonly record: StoredRecord
  /** Whether its notices may have been delivered before. */
  readonly again: boolean
}

/** Deliveries of one record, in order. */
interface Round {
  tail: Promise<void>
  readonly delivered: Set<string>
}

/**
 * Delivers notices of changed records (notices.ts): at once by the process that made the change, or later by any
 * process that finds them undelivered. Delivery is in order for each record, at least once, and with the same id each
 * time.
 */
export class NoticeDelivery {
  /** The store; notices of records written through it are delivered at once. */
  readonly records: RecordStore
  readonly #store: RecordStore
  readonly #kinds: readonly RecordKind[]
  readonly #definitions: readonly MachineDefinition[]
  readonly #clock: Clock
  readonly #log: Logger
  readonly #rounds = new Map<string, Round>()
  #receivers: Receivers | undefined
  readonly #scans: Rounds

  constructor(store: RecordStore, { kinds, definitions, clock, log }: NoticeParts) {
    this.#store = store
    this.#definitions = definitions
    this.#kinds = kinds.filter(({ outbox }) => outbox)
    this.#clock = clock
    this.#log = log
    this.#scans = new Rounds({ clock, everyMs: () => this.#pauseMs(), round: () => this.#scan(false) })
    this.records = {
      ...boundRecords(store),
      insert: async (kind, record) => this.#written(await store.insert(kind, record), { kind, record, again: false }),
      insertMany: async (kind, many) => {
        const outcomes = await store.insertMany(kind, many)
        return many.map((record, at) => this.#written(outcomes[at] ?? 'exists', { kind, record, again: false }))
      },
      replace: async (kind, record) => this.#written(await store.replace(kind, record), { kind, record, again: false }),
    }
  }

  /** Starts delivery, first of notices that earlier processes left. */
  start(receivers: Receivers): void {
    this.#receivers = receivers
    void this.#scan(true).finally(() => this.#scans.start())
  }

  /** Stops the search; resolves when running deliveries have ended, or soon: the next start finds what is left. */
  async stop(): Promise<void> {
    void this.#scans.stop()
    await Promise.race([this.#settled(), pause(this.#clock, patienceMs)])
  }

  /**
   * Resolves when delivery was attempted for everything written through `records` so far.
   * @throws {StoreUnavailable} when that takes longer than a request waits.
   */
  delivered(): Promise<void> {
    return within(this.#clock, patienceMs, this.#settled())
  }

  /** Finds and delivers undelivered notices once. */
  round(): Promise<void> {
    return this.#scan(true)
  }

  async #settled(): Promise<void> {
    await Promise.all([...this.#rounds.values()].map(({ tail }) => tail))
  }

  #pauseMs(): number {
    return Math.max(everyMs, everyMsOfEach * (this.#receivers?.processes?.() ?? 1))
  }

  #written<T extends string>(outcome: T, letter: Letter): T {
    if (outcome === 'done' && letter.record.outbox !== undefined) void this.#deliver(letter)
    return outcome
  }

  async #scan(young: boolean): Promise<void> {
    const unread = (kind: string | undefined, err: unknown): void =>
      this.#log.warn({ kind, err }, 'open notices not read, trying again')
    const kinds = await this.#store.withOpenOutboxes(this.#kinds).catch((error: unknown) => unread(undefined, error))
    for (const kind of kinds ?? [])
      await this.#scanKind(kind, young).catch((error: unknown) => unread(kind.name, error))
  }

  async #scanKind(kind: RecordKind, young: boolean): Promise<void> {
    for (let after: string | null = null; !this.#scans.stopped; ) {
      const page: readonly StoredRecord[] = await this.#store.openOutboxes(kind, after, pageSize)
      // a record with a future time was written before the clock was set back
      const now = this.#clock.now()
      const left = page.filter((record) => young || Math.abs(now - record.updated_at) >= ownersTurnMs)
      for (let first = 0; first < left.length; first += atOnce) {
        await Promise.all(
          left.slice(first, first + atOnce).map((record) => this.#deliver({ kind, record, again: true })),
        )
      }
      if (page.length < pageSize) return
      after = page.at(-1)?.id ?? null
    }
  }

  /** Delivers after earlier deliveries of the same record. Never rejects: what fails is found again. */
  #deliver(letter: Letter): Promise<void> {
    const { record } = letter
    const round = this.#rounds.get(record.id) ?? { tail: Promise.resolve(), delivered: new Set() }
    this.#rounds.set(record.id, round)
    const tail = round.tail.then(() => this.#hand(letter, round.delivered))
    round.tail = tail
    return tail.then(() => {
      if (round.tail === tail) this.#rounds.delete(record.id)
    })
  }

  async #hand(letter: Letter, delivered: Set<string>): Promise<void> {
    const { kind, record } = letter
    const receivers = this.#receivers
    if (receivers === undefined) return
    const delivery = { ...receivers, definitions: this.#definitions, clock: this.#clock, log: this.#log }
    try {
      for (const message of record.outbox ?? []) {
        if (!delivered.has(message.id)) await handOver(delivery, letter, message)
        delivered.add(message.id)
      }
      await this.#store.closeOutbox(kind, record)
    } catch (error) {
      this.#log.warn({ kind: kind.name, record: record.id, err: error }, 'notices not delivered, trying again')
    }
  }
}

/** Dependencies for delivering one message. */
type Delivery = Omit<Receivers, 'processes'> & Pick<NoticeParts, 'definitions' | 'clock' | 'log'>

/** Delivers one message. A refusal ends the retries: the receiver is gone, or does not accept it. */
const handOver = async (delivery: Delivery, letter: Letter, message: MessageRecord): Promise<void> => {
  try {
    await handed(delivery, letter, message)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'actor_parked') throw error
    delivery.log.debug({ to: message.to, code: error.code }, 'notice not wanted')
  }
}

const handed = async (
  { host, sinks, definitions, clock }: Delivery,
  { record: { project, tenant, user }, again }: Letter,
  message: MessageRecord,
): Promise<unknown> => {
  const { to, event, id } = message
  const sink = sinks[to]
  if (sink !== undefined) return sink({ project, tenant, user }, message, again)
  if (event.type !== 'create') return host.deliver(to, { event, cause: id })
  const kind = definitionOf(definitions, to)
  if (kind === undefined || !isObject(event.input)) throw new ServiceError('not_found')
  return host.create({
    kind,
    id: to,
    owner: { project, tenant, user, createdAt: clock.now() },
    input: event.input,
    cause: id,
    again,
  })
}
