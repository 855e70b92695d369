import type { Host } from '#runtime/host.ts'
import type { EventStream } from '#runtime/messages/event-stream.ts'
import type { Delivery } from '#runtime/resident.ts'
import { epochs } from '#runtime/runtime.ts'
import type { Commit, CommitStore, LogEvent, RecordKind, RecordStore, Storage, StoredRecord } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { copyMark } from './ledger.ts'
import type { Scenario } from './simulation.ts'
import type { Faults } from './world/faults.ts'
import type { NodeParts } from './world/node.ts'
import type { SimProcess } from './world/sim-process.ts'

/** Where a defect is planted. */
interface Planted {
  readonly process: SimProcess
  readonly parts: NodeParts
}

/** A mistake that the simulation has to find, wrapped around the real parts. */
export interface Defect {
  /** Faults for defects that rarely show: more hostile than those of a seed. */
  readonly faults?: Partial<Faults>
  /** The number of processes on which it shows; one if absent. */
  readonly nodes?: number
  /** Where it shows; `sessions` when absent. */
  readonly scenario?: Scenario
  readonly storage?: (storage: Storage, planted: Planted) => Storage
  readonly host?: (host: Host, planted: Planted) => void
}

/** `storage` with some methods of its commit store replaced. */
export const withCommits = (storage: Storage, instead: (commits: CommitStore) => Partial<CommitStore>): Storage => {
  const changed = instead(storage.commits)
  const commits = new Proxy(storage.commits, {
    get: (target, name) => Reflect.get(name in changed ? changed : target, name),
  })
  return { ...storage, commits }
}

/** For defects that need the epoch of the process. */
const withOwnEpoch = (
  storage: Storage,
  instead: (commits: CommitStore, epoch: () => number) => Partial<CommitStore>,
): Storage => {
  let epoch = 0
  const taken = async <T>(version: number, kind: RecordKind, outcome: Promise<T>): Promise<T> => {
    if (kind.name === epochs.name) epoch = version
    return outcome
  }
  const changed: Partial<RecordStore> = {
    insert: (kind, record) => taken(record.version, kind, storage.records.insert(kind, record)),
    replace: (kind, record) => taken(record.version, kind, storage.records.replace(kind, record)),
  }
  const records = new Proxy(storage.records, {
    get: (target, name) => Reflect.get(name in changed ? changed : target, name),
  })
  return { ...withCommits(storage, (commits) => instead(commits, () => epoch)), records }
}

/** The call of an effect is sent before its commit is written. */
const effectBeforeCommit: Defect = {
  storage: (storage, { process, parts }) =>
    withCommits(storage, (commits) => ({
      append: (batch) => {
        for (const { id, name, params } of batch.flatMap(({ effects }) => effects)) {
          if (name === 'runTool') parts.outside.calledEarly(process, id, String(params.action_id))
        }
        return commits.append(batch)
      },
    })),
}

/** A start looks for no work that a crash interrupted. */
const noSweepOfOpenCommits: Defect = {
  storage: (storage) => withCommits(storage, () => ({ open: async () => [] })),
}

/** An actor comes back without its reminders. */
const remindersNotRestored: Defect = {
  storage: (storage) => withCommits(storage, (commits) => ({ head: changedHead(commits, () => ({ reminders: {} })) })),
}

/** The store accepts a cause that was processed before. */
const noUniqueCause: Defect = {
  storage: (storage) =>
    withCommits(storage, (commits) => ({
      append: async (batch) => {
        const outcomes = await commits.append(batch)
        return Promise.all(
          batch.map(async (commit, index) => {
            const outcome = outcomes[index] ?? 'unknown'
            if (outcome !== 'duplicate') return outcome
            const [again] = await commits.append([{ ...commit, cause: `${commit.cause}${copyMark}${commit.nonce}` }])
            return again ?? 'unknown'
          }),
        )
      },
    })),
}

/** A stream reads the log once and then sends what is published, even if events in between are missing. */
const noHoleCheck: Defect = {
  faults: { lost: 0.05, refused: 0.05, slow: 0.1 },
  host: (host) => {
    const live = new Map<string, Set<(events: readonly LogEvent[]) => void>>()
    const publish = host.feed.publish.bind(host.feed)
    host.feed.publish = (actor, events) => {
      publish(actor, events)
      for (const send of live.get(actor) ?? []) send(events)
    }
    host.feed.follow = (actor, after): EventStream => ({
      start: (sink) => {
        let last = after
        const send = (events: readonly LogEvent[]): void => {
          const fresh = events.filter(({ sequence }) => sequence > last)
          last = fresh.at(-1)?.sequence ?? last
          if (fresh.length > 0) sink.push(fresh)
        }
        const readers = live.get(actor) ?? new Set()
        live.set(actor, readers.add(send))
        void Promise.resolve(host.readLog(actor, after)).then(send, () => sink.end('lost'))
        return { resume: () => {}, stop: () => readers.delete(send) }
      },
    })
  },
}

/** A call that was started before a crash is made again. */
const toolRunAgain: Defect = {
  storage: (storage) =>
    withCommits(storage, (commits) => ({
      head: async (actor) => {
        const commit = await commits.head(actor)
        return commit && { ...commit, in_flight: unstarted(commit) }
      },
    })),
}

const unstarted = ({ in_flight }: Commit): Commit['in_flight'] =>
  Object.fromEntries(Object.entries(in_flight).map(([id, flight]) => [id, { ...flight, started: false }]))

/** The store acknowledges a commit before it is durable. */
const acknowledgedEarly: Defect = {
  storage: (storage) =>
    withCommits(storage, (commits) => ({
      append: async (batch) => {
        void commits.append(batch)
        return batch.map(() => 'done' as const)
      },
    })),
}

/** The result of an aborted effect reaches the machine. */
const staleResultAccepted: Defect = {
  host: (host, { process, parts }) => {
    const abort = host.effects.abort.bind(host.effects)
    // the abort may come late; only the check at the actor is certain
    host.effects.abort = (ids) => {
      process.after(parts.random.between(0, 500), () => abort(ids))
    }
    const deliver = host.deliver.bind(host)
    host.deliver = (actor, delivery) => {
      const resident = [...host.residents()].find(({ id }) => id === actor)
      const late = delivery.done ?? delivery.part
      const stale = late !== undefined && resident !== undefined && resident.state.inFlight[late] === undefined
      return deliver(actor, stale ? plain(delivery) : delivery)
    }
  },
}

const plain = ({ event, cause }: Delivery): Delivery => ({ event, cause })

/** Every commit appears to be from this process, so no actor is fenced. */
const noFence: Defect = {
  faults: { crashes: 3, zombies: 2, slow: 0.15, late: 0.1 },
  storage: (storage) =>
    withOwnEpoch(storage, (commits, epoch) => ({ head: changedHead(commits, () => ({ epoch: epoch() })) })),
}

const changedHead =
  (commits: CommitStore, change: () => Partial<Commit>): CommitStore['head'] =>
  async (actor) => {
    const commit = await commits.head(actor)
    return commit && { ...commit, ...change() }
  }

/** A reminder whose delivery failed is not delivered again. */
const reminderNotRetried: Defect = {
  storage: (storage) => {
    const seen = new Set<string>()
    return withCommits(storage, (commits) => ({
      due: async (look) => {
        const due = await commits.due(look)
        const fresh = due.filter(({ actor, seq }) => !seen.has(`${actor}:${seq}`))
        for (const { actor, seq } of fresh) seen.add(`${actor}:${seq}`)
        return fresh
      },
    }))
  },
}

/** The store acknowledges rows before they are durable, and loses them when it is killed (w:1). */
const rowsForgotten: Defect = {
  faults: { forgets: 4 },
  storage: (storage, { parts }) => {
    const { inner, volatile } = parts
    const project: RecordStore['project'] = async (rows) => {
      const before = await Promise.all(
        rows.map(({ kind, record }) => inner.records.get(kind, projectScope(record.project), record.id)),
      )
      await storage.records.project(rows)
      volatile.wrote(() => void restored(inner, rows, before))
    }
    const records = new Proxy(storage.records, {
      get: (target, name) => (name === 'project' ? project : Reflect.get(target, name)),
    })
    return { ...storage, records }
  },
}

const restored = async (
  { records }: Storage,
  rows: Parameters<RecordStore['project']>[0],
  before: readonly (StoredRecord | null)[],
): Promise<void> => {
  for (const [at, { kind, record }] of rows.entries()) {
    await records.remove(kind, projectScope(record.project), record.id)
    const earlier = before[at]
    if (earlier) await records.insert(kind, earlier)
  }
}

/** A commit is closed although its usage rows are not written. */
const usageBehind: Defect = {
  host: (host, { process }) => {
    const write = host.rows.write.bind(host.rows)
    host.rows.write = async (actor, kind, record) => {
      process.after(300, () => void write(actor, kind, record))
    }
  },
}

/** A list row is written from the state before the newest commit. */
const rowOfOldState: Defect = {
  storage: (storage) => {
    const project: RecordStore['project'] = (rows) =>
      storage.records.project(rows.map(({ kind, record }) => ({ kind, record: olderRow(record) })))
    const records = new Proxy(storage.records, {
      get: (target, name) => (name === 'project' ? project : Reflect.get(target, name)),
    })
    return { ...storage, records }
  },
}

const olderRow = (record: StoredRecord): StoredRecord => {
  const { turn_count } = record.data
  return typeof turn_count === 'number' && turn_count > 0
    ? { ...record, data: { ...record.data, turn_count: turn_count - 1 } }
    : record
}

/** An effect counts as having killed its process even if several were running when the process ended. */
const parkedTooEarly: Defect = {
  faults: { crashes: 8 },
  storage: (storage) =>
    withCommits(storage, (commits) => ({
      head: async (actor) => {
        const commit = await commits.head(actor)
        return commit && { ...commit, in_flight: condemned(commit) }
      },
    })),
}

const condemned = ({ in_flight }: Commit): Commit['in_flight'] =>
  Object.fromEntries(
    Object.entries(in_flight).map(([id, flight]) => [id, flight.alone === true ? { ...flight, failures: 3 } : flight]),
  )

/** A process reads logs from memory when its lease was lost, until it notices that. */
const outdatedMemory: Defect = {
  nodes: 3,
  faults: { zombies: 6 },
  host: (host) => {
    host.dropOutdated = () => {}
  },
}

/** The mistakes that the simulation has to find, by name. */
export const defects = {
  'effect before commit': effectBeforeCommit,
  'no sweep of open commits': noSweepOfOpenCommits,
  'reminders not restored': remindersNotRestored,
  'no unique cause': noUniqueCause,
  'no hole check': noHoleCheck,
  'tool run again': toolRunAgain,
  'acknowledged early': acknowledgedEarly,
  'stale result accepted': staleResultAccepted,
  'no fence': noFence,
  'reminder delivery not retried': reminderNotRetried,
  'rows forgotten': rowsForgotten,
  'usage behind its commit': usageBehind,
  'a row from an old state': rowOfOldState,
  'parked too early': parkedTooEarly,
  'logs read from outdated memory': outdatedMemory,
} as const satisfies Readonly<Record<string, Defect>>
