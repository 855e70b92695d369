import type { IndexBound } from '#retrieval/index.ts'
import { answerLane, type RecordStore, type Residue } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import { Backgrounds } from './embedding/backgrounds.ts'
import { EmbeddedProjects } from './embedding/embedded-projects.ts'
import type { EmbedderOf } from './embedding/embedders.ts'
import { EmbeddingQueue } from './embedding/embedding-queue.ts'
import { EmbeddingRounds } from './embedding/embedding-rounds.ts'
import { MemoryChanges } from './indexes/memory-changes.ts'
import { UserMemoryIndexes } from './indexes/user-memory-indexes.ts'
import type { JudgeContents } from './judge-contents.ts'
import { memories } from './kinds.ts'
import { LastUsedRecorder } from './last-used-recorder.ts'
import { MemoryLimits } from './memory-limits.ts'
import { type MemoryOwner, ownersScope } from './memory-owner.ts'
import { MemorySearch } from './memory-search.ts'
import type { MemorySettings } from './memory-settings.ts'
import { MemoryWriter, type RedactContents } from './memory-writer.ts'
import { DecidedWrites } from './writes/decided-writes.ts'
import { forgetWrites, isErasedSoon, type ListedWrite } from './writes/forgotten-writes.ts'
import { UpdatedMemories } from './writes/updated-memories.ts'

export interface MemoryParts
  extends Pick<Services, 'records' | 'storage' | 'host' | 'answers' | 'clock' | 'now' | 'log'> {
  readonly bound: IndexBound
  readonly embedderOf: EmbedderOf
  readonly settings: (project: string) => Promise<MemorySettings>
  readonly redact: RedactContents
  readonly judge: JudgeContents
  readonly upgradeUrl: string
  /** Whether this process embeds the memories of a project in the background. */
  readonly isOurs: (project: string) => boolean
}

/** The opened memory service. */
export interface OpenMemory {
  readonly records: RecordStore
  readonly now: () => number
  readonly indexes: UserMemoryIndexes
  readonly queue: EmbeddingQueue
  readonly limits: MemoryLimits
  readonly writer: MemoryWriter
  readonly search: MemorySearch
  readonly rounds: EmbeddingRounds
  readonly projects: EmbeddedProjects
  /** Removes memories of a user from the store and all indexes; returns how many existed. @throws {StoreUnavailable} */
  forget(owner: MemoryOwner, ids: readonly string[]): Promise<number>
  /** Removes the logs of writes, which contain the exchanges; returns their ids. @throws {StoreUnavailable} */
  forgetWrites(owner: MemoryOwner, isMeant: (write: ListedWrite) => boolean): Promise<readonly string[]>
  /**
   * Removes what was forgotten of an owner from the store's files, once the logs of these writes are gone, and the stored
   * answers of models that were given its memories. @throws {StoreUnavailable}
   */
  purge(owner: MemoryOwner, writes: readonly string[]): Promise<Residue>
  close(): Promise<void>
}

const removedAtOnce = 64

/** Creates the parts of memory and connects them. */
export const openMemory = (parts: MemoryParts): OpenMemory => {
  const { records, now, clock, log, embedderOf } = parts
  // a store of a single process writes what a memory supersedes in one transaction
  const changes = parts.storage.leases === null ? undefined : new MemoryChanges(records, now)
  const queue: EmbeddingQueue = new EmbeddingQueue({
    ...{ records, clock, embedderOf, log },
    embedded: (owner, rows) =>
      indexes.wrote(
        owner,
        rows.map(({ id }) => id),
        (index) => index.putAll(rows),
      ),
  })
  const projects = new EmbeddedProjects(records, now)
  const updated = new UpdatedMemories({ records, now, embedderOf })
  const decided = new DecidedWrites({ records, clock, now, changes })
  const rounds = new EmbeddingRounds({ records, clock, projects, embedderOf, queue, isOurs: parts.isOurs, log })
  const indexes: UserMemoryIndexes = new UserMemoryIndexes({
    ...{ records, now, changes, projects, bound: parts.bound },
    embedderOf: async (project) => (await embedderOf(project))?.id ?? null,
    unembedded: (owner, ids) => void queue.add(owner, ids),
    recover: (owner, pending) => decided.recover(owner, pending),
  })
  const limits = new MemoryLimits(parts)
  const used = new LastUsedRecorder(records, clock)
  const shared = { records, now, indexes, limits }
  return {
    ...{ ...shared, queue, rounds, projects },
    writer: new MemoryWriter({ ...parts, ...shared, decided, updated, queue }),
    search: new MemorySearch({ ...shared, embedderOf, used, backgrounds: new Backgrounds({ now, log }) }),
    forget: async (owner, ids) => {
      const scope = ownersScope(owner)
      let removed = 0
      for (let first = 0; first < ids.length; first += removedAtOnce) {
        const some = ids.slice(first, first + removedAtOnce)
        const outcomes = await Promise.all(some.map((id) => records.remove(memories, scope, id)))
        removed += outcomes.filter((outcome) => outcome).length
      }
      await indexes.wrote(owner, ids, (index) => {
        for (const id of ids) index.remove(id)
      })
      return removed
    },
    forgetWrites: (owner, isMeant) => forgetWrites(parts, owner, isMeant),
    purge: async ({ project, tenant, user }, writes) => {
      await parts.answers.forget(project, answerLane(tenant, user))
      const erased = await isErasedSoon(parts, writes)
      const residue = await parts.storage.purge()
      return erased ? residue : 'pending'
    },
    close: async () => {
      queue.close()
      used.close()
      await rounds.stop()
    },
  }
}
