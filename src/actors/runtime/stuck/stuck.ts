import type { JsonObject, RecordKind } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { derivedId } from '../ids.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import type { Owner } from '../step/actor-state.ts'

/** What work can be stuck as. */
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

/** Work that goes on no further by itself. */
export interface Stuck {
  readonly kind: StuckKind
  /** Whose it is: an operator's command goes to this actor. */
  readonly actor: string
  readonly machine: string
  readonly owner: Owner
  /** What of the actor: the id of an effect, message or row, or the name of a reminder; the actor's id for itself. */
  readonly subject: string
  readonly reason: string
  /** How often it was tried. */
  readonly attempts: number
}

/** Names one piece of stuck work. */
export type StuckKey = Pick<Stuck, 'kind' | 'actor' | 'subject'>

/** Rows of stuck work, for operators. Each runs out unless the process that has it in memory writes it again. */
export const stuckRows: RecordKind = { name: 'stuck_work', filters: ['kind', 'actor'] }

/** A row that is not written again for so long is gone, in ms; and it is written again so often. */
const keptMs = 3 * 60 * 60_000
const againMs = 60 * 60_000
const longestReason = 500

interface Entry {
  readonly stuck: Stuck
  readonly since: number
}

/**
 * What is stuck in this process, and its rows. The truth is where the work is: a commit that stays open, a reminder that
 * stays due. So a row that is lost comes again, and one that is left over runs out.
 */
export class StuckBook {
  readonly #rows: RowWriter
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  #cancel: (() => void) | undefined
  #version = 0

  constructor(rows: RowWriter, clock: Clock) {
    this.#rows = rows
    this.#clock = clock
  }

  /** Notes work that is stuck; noted again, it only counts on. */
  note(stuck: Stuck): void {
    const id = stuckId(stuck)
    const before = this.#entries.get(id)
    const entry = { stuck, since: before?.since ?? this.#clock.now() }
    this.#entries.set(id, entry)
    if (before === undefined || before.stuck.attempts * 2 <= stuck.attempts) this.#write(id, entry)
    this.#cancel ??= this.#clock.after(againMs, () => this.#again())
  }

  /** The work goes on, or is given up; all of a kind when no subject is named. */
  clear(key: Omit<StuckKey, 'subject'> & Partial<Pick<StuckKey, 'subject'>>): void {
    for (const [id, entry] of this.#entries) {
      const { kind, actor, subject } = entry.stuck
      if (kind !== key.kind || actor !== key.actor || (key.subject ?? subject) !== subject) continue
      this.#entries.delete(id)
      this.#write(id, entry, 1)
    }
  }

  /** How much of each kind is stuck in this process. */
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

/** The same work has the same id, whichever process notes it. */
const stuckId = ({ kind, actor, subject, owner }: Stuck): string =>
  derivedId('stk', owner.createdAt, `${kind}/${actor}/${subject}`)

/** What an error says to operators. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error)
