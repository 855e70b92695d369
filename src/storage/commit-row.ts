import { inPieces } from './pieces.ts'
import type { Commit, CommitKey, Json, LogEvent, StoredLogEvent } from './ports.ts'
import { fromStored, toStored } from './stored-events.ts'

/**
 * A commit as every adapter stores it: searchable fields separately, the rest as JSON text.
 *
 * Text rather than columns or BSON: it is cheaper to write, and a key or a depth that a database refuses (`$ref`,
 * `a\u0000b`) cannot fail a batch with other actors' commits (specs/decisions/0040-storage.md).
 */
export interface CommitRow extends CommitHead {
  /** JSON of the log events; null when the commit has none. */
  readonly events: string | null
  /** JSON of the snapshot; null once removed. */
  readonly snapshot: string | null
  /** JSON of `CommitBody`. */
  readonly body: string
  readonly open: boolean
  readonly due: number | null
}

type CommitHead = Pick<
  Commit,
  'actor' | 'seq' | 'shard' | 'epoch' | 'at' | 'project' | 'tenant' | 'machine' | 'cause' | 'nonce' | 'last_sequence'
>

/** The fields that a commit and its row have alike. Named one by one, since every written commit passes here. */
export const headOf = (commit: CommitHead): CommitHead => ({
  actor: commit.actor,
  seq: commit.seq,
  shard: commit.shard,
  epoch: commit.epoch,
  at: commit.at,
  project: commit.project,
  tenant: commit.tenant,
  machine: commit.machine,
  cause: commit.cause,
  nonce: commit.nonce,
  last_sequence: commit.last_sequence,
})

type CommitBody = Pick<Commit, 'event' | 'moved' | 'changed' | 'replaces'> &
  Partial<Pick<Commit, 'effects' | 'messages' | 'reminders' | 'in_flight'>>

/** Converts a commit to the stored row. */
export const toRow = (commit: Commit): CommitRow => ({
  ...headOf(commit),
  events: eventsText(commit),
  snapshot: snapshotText(commit),
  body: bodyText(commit),
  open: commit.open,
  due: commit.due,
})

/** JSON of a commit's log events, or null for none. */
export const eventsText = (commit: Commit): string | null =>
  commit.events.length === 0 ? null : JSON.stringify(toStored(commit.events))

/** JSON of a commit's snapshot, or null for none. */
export const snapshotText = (commit: Commit): string | null =>
  commit.snapshot === undefined ? null : JSON.stringify(commit.snapshot)

/**
 * JSON of the fields that only a reader of the commit needs, without empty ones: most commits have one of the four
 * lists.
 */
export const bodyText = ({
  event,
  moved,
  changed,
  replaces,
  effects,
  messages,
  reminders,
  in_flight,
}: Commit): string =>
  JSON.stringify({
    event,
    moved,
    changed,
    replaces,
    effects: effects.length > 0 ? effects : undefined,
    messages: messages.length > 0 ? messages : undefined,
    reminders: hasKeys(reminders) ? reminders : undefined,
    in_flight: hasKeys(in_flight) ? in_flight : undefined,
  })

const hasKeys = (entries: object): boolean => {
  for (const _ in entries) return true
  return false
}

/** The commit in a row; without `snapshot` when that was removed. */
export const fromRow = (row: CommitRow): Commit => {
  const body: CommitBody = JSON.parse(row.body)
  const events: readonly LogEvent[] = row.events === null ? [] : fromStored(JSON.parse(row.events))
  const commit = {
    ...headOf(row),
    event: body.event,
    ...(body.moved !== undefined && { moved: body.moved }),
    ...(body.changed !== undefined && { changed: body.changed }),
    events,
    ...(body.replaces !== undefined && { replaces: body.replaces }),
    effects: body.effects ?? [],
    messages: body.messages ?? [],
    reminders: body.reminders ?? {},
    in_flight: body.in_flight ?? {},
    open: row.open,
    due: row.due,
  }
  return row.snapshot === null ? commit : { ...commit, snapshot: JSON.parse(row.snapshot) }
}

/** Collects a page of log events from commits in order of `seq`. */
export class EventPage {
  readonly events: StoredLogEvent[] = []
  readonly #limit: number
  /** Sequence of the newest event in the page, or before it. */
  #last: number

  constructor(after: number, limit: number) {
    this.#last = after
    this.#limit = limit
  }

  /**
   * Adds one commit's events (JSON text) to the page; false when the page is full. Events that an earlier commit
   * already contained are added once (`CommitStore.merge`).
   */
  take(text: string, at: number): boolean {
    for (const event of inPieces(fromStored(JSON.parse(text)), this.#last)) {
      if (this.events.length >= this.#limit) return false
      if (event.sequence <= this.#last) continue
      this.#last = event.sequence
      this.events.push({ ...event, at: event.at ?? at })
    }
    return this.events.length < this.#limit
  }
}

/** A commit's key as one string, which sorts by actor, then by `seq`. */
export const keyOf = ({ actor, seq }: CommitKey): string => `${actor}:${String(seq).padStart(10, '0')}`

/** A value in the form used by indexes, so that all adapters agree on equality. */
export const keyText = (value: Json): string => JSON.stringify(value)

/** Whether the commit, which follows this key, has replaced the one that had it. */
export const replacesKey = ({ seq, replaces = 0 }: Commit, key: number): boolean => seq - replaces <= key
