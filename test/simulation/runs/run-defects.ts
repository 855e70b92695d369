import type { Commit, CommitStore, Storage } from '#storage/ports.ts'
import { type Defect, withCommits } from '../defects.ts'

const scenario = 'runs'

/** A child's end does not reach a parent that is not in memory. */
const childResultLost: Defect = {
  scenario,
  host: (host) => {
    const deliver = host.deliver.bind(host)
    host.deliver = async (actor, delivery) => {
      const lost = delivery.event.type === 'child_ended' && host.resident(actor) === undefined
      return lost ? nothingDelivered : deliver(actor, delivery)
    }
  },
}

const nothingDelivered = { commit: null, duplicate: false }

/** What a run has sent to its queue is not sent again after a crash, however its commit is read then. */
const slotKeptAfterCrash: Defect = {
  scenario,
  storage: (storage) =>
    withCommits(storage, (commits) => ({
      head: async (actor) => withoutReturns(await commits.head(actor)),
      at: async (actor, seq) => withoutReturns(await commits.at(actor, seq)),
      ofActor: async (actor, after, limit) =>
        (await commits.ofActor(actor, after, limit)).map((commit) => withoutReturns(commit)),
    })),
}

function withoutReturns(commit: Commit): Commit
function withoutReturns(commit: Commit | null): Commit | null
function withoutReturns(commit: Commit | null): Commit | null {
  return commit && { ...commit, messages: commit.messages.filter(({ event }) => event.type !== 'slot_returned') }
}

/** The end of a run does not reach its children. */
const cancelNotCascaded: Defect = {
  scenario,
  host: (host) => {
    const deliver = host.deliver.bind(host)
    host.deliver = async (actor, delivery) => {
      const cascaded = delivery.event.type === 'cancel' && actor.startsWith('run_') && /:m\d+$/.test(delivery.cause)
      return cascaded ? nothingDelivered : deliver(actor, delivery)
    }
  },
}

/** A process that takes a run over does not know when it expires. */
const expiryLostOnHandOver: Defect = {
  scenario,
  storage: (storage) =>
    withCommits(storage, (commits) => ({
      head: async (actor) => {
        const commit = await commits.head(actor)
        return commit && (actor.startsWith('run_') ? { ...commit, reminders: {} } : commit)
      },
    })),
}

/** The queue is woken before the row of a run shows that it waits. */
const wokenBeforeRow: Defect = {
  scenario,
  host: (host) => {
    host.rows.settled = async () => {}
  },
}

/** A lane is unmarked at once, and a run added before the second read is overlooked. */
const laneUnmarkedAtOnce: Defect = {
  scenario,
  storage: (storage) => {
    const { records } = storage
    const replace: Storage['records']['replace'] = (kind, record) =>
      records.replace(kind, 'closing' in record.data ? { ...record, data: { waiting: false } } : record)
    return {
      ...storage,
      records: new Proxy(records, { get: (to, name) => (name === 'replace' ? replace : Reflect.get(to, name)) }),
    }
  },
}

/** A queue that is loaded again assumes that no run has a slot. */
const holdersForgotten: Defect = {
  scenario,
  storage: (storage) => withCommits(storage, (commits) => ({ head: forgetful(commits) })),
}

const forgetful =
  (commits: CommitStore): CommitStore['head'] =>
  async (actor) => {
    const commit = await commits.head(actor)
    const context = commit?.snapshot?.context
    if (!actor.startsWith('rqu_') || context === undefined) return commit
    return commit && { ...commit, snapshot: { ...commit.snapshot, context: { ...Object(context), holders: {} } } }
  }

/** Each round starts with the same lane. */
const sameLaneFirst: Defect = {
  scenario,
  host: (host) => {
    const deliver = host.deliver.bind(host)
    host.deliver = async (actor, delivery) => {
      const { event } = delivery
      const changed = event.type === 'runs_picked' ? { ...event, cursor: null } : event
      return deliver(actor, { ...delivery, event: changed })
    }
  },
}

/** Mistakes with runs that the simulation has to find, by name. */
export const runDefects = {
  'the result of a child lost': childResultLost,
  'a slot kept after a crash': slotKeptAfterCrash,
  'a cancel not cascaded': cancelNotCascaded,
  'the expiry of a run lost on hand-over': expiryLostOnHandOver,
  'the queue woken before the row': wokenBeforeRow,
  'a lane unmarked at once': laneUnmarkedAtOnce,
  'holders of slots forgotten': holdersForgotten,
  'the same lane served first': sameLaneFirst,
} as const satisfies Readonly<Record<string, Defect>>
