import type { JsonObject, RecordKind } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { derivedId } from '../ids.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import type { Owner } from '../step/actor-state.ts'

/** The kinds of stuck work. */
export const stuckKinds = [
  'parked_actor',
  'poison_message',
  'poison_result',
  'refused_row',
  'failing_reminder',
  'overdue_effect',
  'unfinished_commit',
] as const

/** One of `stuckKinds`. */
export type StuckKind = (typeof stuckKinds)[number]

/** Work that makes no progress without an operator's decision. */
export interface Stuck {
  readonly kind: StuckKind
  /** The actor whose work it is; operators' decisions are delivered to it. */
  readonly actor: string
  readonly machine: string
  readonly owner: Owner
  /** Id of the stuck effect, message, row or commit, name of the reminder, or the actor's own id. */
  readonly subject: string
  readonly reason: string
  /** Number of attempts. */
  readonly attempts: number
}

/** Identifies one piece of stuck work. */
export type StuckKey = Pick<Stuck, 'kind' | 'actor' | 'subject'>

/** Rows of stuck work, for operators. A row expires unless the process that has the work in memory renews it. */
export const stuckRows: RecordKind = { name: 'stuck_work', filters: ['kind', 'actor'] }

/** Lifetime of a row of stuck work, and the interval of its renewal, in ms. */
const keptMs = 3 * 60 * 60_000
const againMs = 60 * 60_000
const longestReason = 500

interface Entry {
  readonly stuck: Stuck
  readonly since: number
}

/**
 * Registry of the stuck work of this process, and its rows. The rows are derived: the source of truth is the work
 * itself, such as a commit that stays open or a reminder that stays due. So a lost row is written again, and an
 * obsolete one expires.
 */
export class StuckWorkRegistry {
  readonly #rows: RowWriter
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  #cancel: (() => void) | undefined
  #version = 0

  constructor(rows: RowWriter, clock: Clock) {
    this.#rows = rows
    this.#clock = clock
  }

  /** Records stuck work. Recorded again, its row is written only when the attempts have doubled. */
  note(stuck: Stuck): void {
    const id = stuckId(stuck)
    const before = this.#entries.get(id)
    const entry = { stuck, since: before?.since ?? this.#clock.now() }
    this.#entries.set(id, entry)
    if (before === undefined || before.stuck.attempts * 2 <= stuck.attempts) this.#write(id, entry)
    this.#cancel ??= this.#clock.after(againMs, () => this.#again())
  }

  /**
   * Removes work that has resumed or was given up: one subject, or all of a kind for an actor when no subject is given.
   */
  clear(key: Omit<StuckKey, 'subject'> & Partial<Pick<StuckKey, 'subject'>>): void {
    for (const [id, entry] of this.#entries) {
      const { kind, actor, subject } = entry.stuck
      if (kind !== key.kind || actor !== key.actor || (key.subject ?? subject) !== subject) continue
      this.#entries.delete(id)
      this.#write(id, entry, 1)
    }
  }

  /** Number of stuck items of this process, by kind. */
  counts(): Readonly<Record<StuckKind, number>> {
    const counts = { ...none }
    for (const { stuck } of this.#entries.values()) counts[stuck.kind]++
    return counts
  }

  #again(): void {
    this.#cancel = undefined
    if (this.#entries.size === 0) return
    for (const [id, entry] of this.#entries) this.#write(id, entry)
    this.#cancel = this.#clock.after(againMs, () => this.#again())
  }

  #write(id: string, { stuck, since }: Entry, expiresAt = this.#clock.now() + keptMs): void {
    const { project, tenant } = stuck.owner
    const now = this.#clock.now()
    this.#version = Math.max(now, this.#version + 1)
    const times = { version: this.#version, created_at: since, updated_at: now, expires_at: expiresAt }
    const record = { id, project, tenant, user: null, ...times, data: dataOf(stuck) }
    this.#rows.put({ id, actor: id, kind: stuckRows, record: () => record })
  }
}

const none: Readonly<Record<StuckKind, number>> = {
  parked_actor: 0,
  poison_message: 0,
  poison_result: 0,
  refused_row: 0,
  failing_reminder: 0,
  overdue_effect: 0,
  unfinished_commit: 0,
}

const dataOf = ({ kind, actor, machine, subject, reason, attempts }: Stuck): JsonObject => ({
  kind,
  actor,
  machine,
  subject,
  reason: reason.slice(0, longestReason),
  attempts,
})

/** Id of stuck work: the same in every process that records it. */
const stuckId = ({ kind, actor, subject, owner }: Stuck): string =>
  derivedId('stk', owner.createdAt, `${kind}/${actor}/${subject}`)

/** Text of an error for operators. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error)
