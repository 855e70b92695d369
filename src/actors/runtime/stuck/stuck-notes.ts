import type { MessageRecord } from '#storage/ports.ts'
import type { EffectRunner } from '../effects/effect-runner.ts'
import type { Outbox, PoisonFailure } from '../messages/outbox.ts'
import type { FailingReminder } from '../reminder-clock.ts'
import type { Resident } from '../resident.ts'
import type { Row, RowListener, RowWriter } from '../rows/row-writer.ts'
import type { Decision } from '../step/system-steps.ts'
import { reasonOf, type Stuck, type StuckWorkRegistry, stuckRows } from './stuck.ts'

/** Number of consecutive failures after which a reminder is shown to operators. */
const failingAfter = 5

const whoseOf = ({ id, definition, owner }: Resident): Pick<Stuck, 'actor' | 'machine' | 'owner'> => ({
  actor: id,
  machine: definition.name,
  owner,
})

/** Records poison messages, at which their receivers throw, as stuck work of their senders. */
export const stuckMessages = (book: StuckWorkRegistry) => ({
  poison: (sender: Resident, { id }: MessageRecord, { error, attempts }: PoisonFailure): void =>
    book.note({ ...whoseOf(sender), kind: 'poison_message', subject: id, reason: reasonOf(error), attempts }),
  passed: (sender: Resident, { id }: MessageRecord): void =>
    book.clear({ kind: 'poison_message', actor: sender.id, subject: id }),
})

/** Records rows that the store refuses. */
export const stuckRowsOf = (
  book: StuckWorkRegistry,
  residentOf: (id: string) => Resident | undefined,
): RowListener => ({
  refused: (row: Row, error) => {
    const resident = residentOf(row.actor)
    if (resident === undefined || row.kind === stuckRows) return
    book.note({ ...whoseOf(resident), kind: 'refused_row', subject: row.id, reason: reasonOf(error), attempts: 1 })
  },
  taken: ({ id, actor }) => book.clear({ kind: 'refused_row', actor, subject: id }),
})

/** Records a reminder that keeps failing. */
export const noteReminder = (
  book: StuckWorkRegistry,
  resident: Resident,
  { reminder, count, error }: FailingReminder,
): void => {
  if (count < failingAfter) return
  const stuck = { kind: 'failing_reminder', subject: reminder, reason: reasonOf(error), attempts: count } as const
  book.note({ ...whoseOf(resident), ...stuck })
}

/** Records effects that run for very long, and removes those that have ended. */
export class OverdueWatch {
  readonly #book: StuckWorkRegistry
  readonly #effects: Pick<EffectRunner, 'overdue'>
  #noted = new Map<string, string>()

  constructor(book: StuckWorkRegistry, effects: Pick<EffectRunner, 'overdue'>) {
    this.#book = book
    this.#effects = effects
  }

  /** Checks the running effects once. */
  round(): void {
    const overdue = new Map<string, string>()
    for (const { id, name, resident, runsMs } of this.#effects.overdue()) {
      overdue.set(id, resident.id)
      if (this.#noted.has(id)) continue
      const reason = `The effect ${name} has been running for ${Math.round(runsMs / 60_000)} minutes.`
      this.#book.note({ ...whoseOf(resident), kind: 'overdue_effect', subject: id, reason, attempts: 1 })
    }
    for (const [subject, actor] of this.#noted) {
      if (!overdue.has(subject)) this.#book.clear({ kind: 'overdue_effect', actor, subject })
    }
    this.#noted = overdue
  }
}

/** The places where stuck work is held and from which a decision releases it. */
export interface Held {
  readonly outbox: Outbox
  readonly rowWriter: RowWriter
  readonly effects: EffectRunner
  /** Lets the actor's reminders be delivered without delay. */
  readonly reminders: (actor: string) => void
}

/** Releases stuck work after an operator's decision has become durable. */
export const release = (resident: Resident, { kind, subject, verb }: Decision, held: Held): void => {
  const { id } = resident
  if (kind === 'unfinished_commit' && verb === 'discard') resident.unfinished = undefined
  if (kind === 'poison_message') held.outbox.release(subject, verb === 'discard')
  if (kind === 'refused_row' && verb === 'discard') held.rowWriter.discard(subject)
  if (kind === 'refused_row' && verb === 'retry') held.rowWriter.retry(subject)
  if (kind === 'failing_reminder') held.reminders(id)
  if (kind === 'overdue_effect') held.effects.forget(subject)
}
