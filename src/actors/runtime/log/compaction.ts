import {
  type CommitStore,
  type EffectParts,
  type RecordKind,
  type RecordStore,
  StoreUnavailable,
} from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { type Clock, pause } from '../clock.ts'
import { newId } from '../ids.ts'
import type { Logger } from '../logger.ts'
import type { Ownership } from '../recovery/ownership.ts'
import { Rounds } from '../rounds.ts'
import { type EndedStream, isEndedStream } from './ended-stream.ts'
import type { UpkeepSwitch } from './upkeep-switch.ts'

/** Lists of ended streams to be merged; one record has those that ended on one process within a second. */
export const endedStreams: RecordKind = { name: 'ended_streams' }

const everyMs = 1000
/**
 * Default delay between the end of a stream and its merge, in ms: a given-up write may still arrive (recovery.ts), and
 * would take the place of a removed commit.
 */
const defaultQuietMs = 120_000
/**
 * Age after which a record is removed even if streams in it could not be merged, in ms: an actor whose commits are open
 * for so long is parked, and its parts stay as they are.
 */
const patienceMs = 24 * 60 * 60 * 1000
/**
 * Number of effects merged concurrently. After each batch the event loop is left to others for as long as the batch
 * took, at most `maxRestMs`.
 */
const atOnce = 4
const maxRestMs = 50
const pageSize = 20
/** Maximum number of ended effects in memory waiting for the next record; further ones are never merged. */
const maxNoted = 20_000
/** Maximum number of effects in one record. */
const maxPerRecord = 500

const scope = projectScope('system')

/** Dependencies of `Compaction`. */
export interface CompactionParts {
  readonly records: RecordStore
  readonly commits: Pick<CommitStore, 'merge'>
  readonly upkeep: UpkeepSwitch
  readonly clock: Clock
  readonly log: Logger
  /** Delay between the end of a stream and its merge, in ms; two minutes when absent. */
  readonly quietMs?: number
}

/** Progress of compaction; counts are those of this process since its start. */
export interface CompactionState {
  /** Number of records of ended streams that wait, over all processes. */
  readonly waiting: number
  /** Time at which the oldest of them was written, in ms since the epoch; null for none. */
  readonly oldestAt: number | null
  readonly merged: number
  readonly removed: number
}

/**
 * Merges those log events of ended streams that the commit at their end did not take over, such as parts of a process
 * that died (parts.ts, specs/decisions/0152-compaction.md). Ended streams are recorded in the store, so that a crash loses none. The
 * process that runs an actor merges its streams some minutes later, a few at a time.
 */
export class Compaction {
  readonly #parts: CompactionParts
  readonly #rounds: Rounds
  #noted: EndedStream[] = []
  #ownership: Pick<Ownership, 'heldUnder' | 'space'> | undefined
  #merged = 0
  #removed = 0

  constructor(parts: CompactionParts) {
    this.#parts = parts
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.round() })
  }

  /** Notes that an effect which journaled parts has ended. */
  note(ended: EndedStream): void {
    if (this.#noted.length < maxNoted) this.#noted.push(ended)
  }

  /** Starts compaction for the actors that this process runs. */
  start(ownership: Pick<Ownership, 'heldUnder' | 'space'>): void {
    this.#ownership = ownership
    this.#rounds.start()
  }

  /** Stops after the current batch, and records the streams that have ended. */
  async stop(): Promise<void> {
    await this.#rounds.stop()
    await this.#write().catch(() => {})
  }

  /** Returns the progress of compaction. @throws {StoreUnavailable} */
  async state(): Promise<CompactionState> {
    const { records } = this.#parts
    const [waiting, [oldest]] = await Promise.all([
      records.count(endedStreams, scope),
      records.list(endedStreams, scope, { limit: 1, ascending: true }),
    ])
    return { waiting, oldestAt: oldest?.created_at ?? null, merged: this.#merged, removed: this.#removed }
  }

  /**
   * Records the streams that have ended, then merges those that are old enough. Failures are left to the next round.
   */
  async round(): Promise<void> {
    const { log, upkeep } = this.#parts
    try {
      await this.#write()
      if (!(await upkeep.isPaused('compaction'))) await this.#mergeAll()
    } catch (error) {
      log.warn({ err: error }, 'streams not merged, trying again')
    }
  }

  async #write(): Promise<void> {
    const { records, clock } = this.#parts
    while (this.#noted.length > 0) {
      const streams = this.#noted.slice(0, maxPerRecord)
      const now = clock.now()
      await records.insert(endedStreams, {
        ...{ id: newId('ens'), project: scope.project, tenant: null, user: null, version: 1 },
        ...{ created_at: now, updated_at: now, expires_at: null },
        data: { streams: streams.map((stream) => ({ ...stream })) },
      })
      this.#noted = this.#noted.slice(streams.length)
    }
  }

  async #mergeAll(): Promise<void> {
    const { records, clock, upkeep, quietMs = defaultQuietMs } = this.#parts
    for (let after: string | undefined; !this.#rounds.stopped; ) {
      const query = { limit: pageSize, ascending: true, ...(after !== undefined && { after }) }
      const page = await records.list(endedStreams, scope, query)
      for (const record of page) {
        if (this.#rounds.stopped || record.created_at > clock.now() - quietMs || (await upkeep.isPaused('compaction')))
          return
        const listed = Array.isArray(record.data.streams) ? record.data.streams.filter(isEndedStream) : []
        const left = await this.#mergeListed(listed)
        if (left.length === 0 || record.created_at < clock.now() - patienceMs) {
          await records.remove(endedStreams, scope, record.id)
        } else if (left.length < listed.length) {
          // of two concurrent replacements one fails; its process finds nothing left to merge the next time
          const data = { streams: left.map((stream) => ({ ...stream })) }
          await records.replace(endedStreams, { ...record, version: record.version + 1, updated_at: clock.now(), data })
        }
      }
      after = page.at(-1)?.id
      if (page.length < pageSize) return
    }
  }

  /** Resolves with the streams that are still to be merged, here or by another process. */
  async #mergeListed(listed: readonly EndedStream[]): Promise<readonly EndedStream[]> {
    const { clock } = this.#parts
    const left: EndedStream[] = []
    for (let first = 0; first < listed.length; first += atOnce) {
      if (this.#rounds.stopped) return [...left, ...listed.slice(first)]
      const begunAt = clock.steady()
      const some = listed.slice(first, first + atOnce)
      const done = await Promise.all(some.map((stream) => this.#merge(stream)))
      left.push(...some.filter((_, index) => done[index] === false))
      const tookMs = clock.steady() - begunAt
      if (tookMs >= 1) await pause(clock, Math.min(tookMs, maxRestMs))
    }
    return left
  }

  /** Returns false when the merge is to be retried. */
  async #merge({ actor, effect, after, before }: EndedStream): Promise<boolean> {
    const ownership = this.#ownership
    const epoch = ownership?.heldUnder(ownership.space.of(actor))
    if (epoch === undefined) return false
    for (let from: number | null = after; from !== null; ) {
      const parts: EffectParts = { actor, effect, after: from, before, epoch }
      const outcome = await this.#parts.commits.merge(parts).catch((error: unknown) => {
        if (error instanceof StoreUnavailable) throw error
        this.#parts.log.error({ actorId: actor, effect, err: error }, 'a stream not merged')
        return { kind: 'removed', commits: 0, next: null } as const
      })
      if (outcome.kind !== 'removed') return false
      this.#removed += outcome.commits
      from = outcome.next
    }
    this.#merged++
    return true
  }
}
