import type { Commit, LogEvent, RecordKind, StoredRecord } from '#storage/ports.ts'

let made = 0

/** A commit with every field filled, and the changes of the test. */
export const commitOf = (actor: string, seq: number, change: Partial<Commit> = {}): Commit => ({
  actor,
  seq,
  shard: 7,
  epoch: 1,
  at: 1_750_000_000_000 + seq,
  project: 'prj_1',
  tenant: null,
  machine: 'session@1',
  cause: `cause:${seq}`,
  nonce: `n${++made}`,
  event: { type: 'turn', text: 'hello' },
  events: [],
  last_sequence: 0,
  effects: [{ id: `${actor}:${seq}:0`, name: 'callModel', params: { model: 'm' }, policy: 'stream' }],
  messages: [{ id: `${actor}:${seq}:m0`, to: 'act_1', event: { type: 'approve' } }],
  snapshot: { value: 'running', context: { turn: seq } },
  reminders: { expire: { due: 5_000, event: { type: 'expire' }, n: 1 } },
  in_flight: { [`${actor}:${seq}:0`]: { name: 'callModel', params: {}, policy: 'stream', progress: 2 } },
  open: false,
  due: null,
  ...change,
})

/** Log events with the sequences `from` to `to`. */
export const eventsOf = (from: number, to: number): readonly LogEvent[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    sequence: from + i,
    event_type: 'output_text.delta',
    turn_number: 1,
    payload: { delta: `d${from + i}` },
  }))

/** Commits of one actor whose events have these counts, in order. */
export const logOf = (actor: string, counts: readonly number[]): readonly Commit[] => {
  let last = 0
  return counts.map((count, i) => {
    const events = eventsOf(last + 1, last + count)
    last += count
    return commitOf(actor, i + 1, { events, last_sequence: last })
  })
}

/** A kind with a unique key per project, one over two fields, and filters of every sort. */
export const widgets: RecordKind = {
  name: 'widgets',
  unique: [{ fields: ['external_id'] }, { fields: ['owner', 'slug'] }],
  filters: [
    'status',
    'weight',
    { fields: ['status', 'weight'] },
    { fields: ['status'], within: 'tenant' },
    { fields: ['status'], within: 'user' },
    { fields: ['place'], narrow: true },
  ],
}

/** A kind with a key that is unique over all projects. */
export const badges: RecordKind = { name: 'badges', unique: [{ fields: ['hash'], global: true }], filters: ['status'] }

/** Another kind whose records have an outbox. */
export const parcels: RecordKind = { name: 'parcels', outbox: true }

/** A kind whose records have an outbox. */
export const letters: RecordKind = { name: 'letters', unique: [{ fields: ['address'] }], outbox: true }

/** A second kind, to verify that kinds do not mix. */
export const gadgets: RecordKind = { name: 'gadgets' }

/** A record of project prj_1 at version 1, with the changes of the test. */
export const recordOf = (id: string, change: Partial<StoredRecord> = {}): StoredRecord => ({
  id,
  project: 'prj_1',
  tenant: null,
  user: null,
  version: 1,
  created_at: 1_000,
  updated_at: 2_000,
  expires_at: null,
  data: { status: 'active' },
  ...change,
})
