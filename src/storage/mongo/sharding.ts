import type { RecordKind } from '../ports.ts'

/** How the documents of a collection are distributed over the shards of a cluster, in MongoDB's own form. */
export type ShardKey = Readonly<Record<string, 1 | 'hashed'>>

/**
 * The shard keys of the store's own collections (specs/decisions/0040-storage.md). Every document has had these fields
 * in every release, so a cluster takes over stored data as it is. The log of an actor is on one shard; blobs sort by
 * their project.
 */
export const ownShardKeys: Readonly<Record<'commits' | 'blobs' | 'vectors', ShardKey>> = {
  commits: { actor: 'hashed' },
  blobs: { _id: 1 },
  vectors: { project: 1 },
}

/**
 * Collections that a cluster keeps whole on one shard, with the reason. So are kinds with a key that is unique over all
 * projects, since no shard could check it: credentials and sign-ins, of which there are few.
 */
export const wholeCollections = {
  kinds: 'one small document for each kind of record, read at starts',
  leases: 'at most 1,024 shards and the live processes, which each process renews by one statement a second',
} as const

/**
 * The shard key of a kind's records; null for a kind that stays whole. A large project is distributed by the ids of its
 * rows, unless the kind has a unique key: that begins with the project, and so has to begin with the whole shard key.
 */
export const shardKeyOf = ({ unique = [] }: RecordKind): ShardKey | null => {
  if (unique.some(({ global }) => global)) return null
  return unique.length > 0 ? { project: 1 } : { project: 1, _id: 1 }
}

/** Statements that every shard executes, with the reason why they have no shard key. None is part of a request's turn. */
const scatteredStatements = {
  sweep: 'open and due commits, outboxes and expired records are found by work or time, whoever owns them',
  every_project: 'work for the whole installation reads the records of all projects',
  other_release: 'rows that another release wrote are found by the lists that they lack',
  deletion: 'a deleted owner or document is known by its name, its actors and vectors are not',
  start: 'the first start checks whether an earlier release has used the database',
  tools: 'tools of operators read every commit',
} as const

/** Marks a statement as one of these. The server's profiler and log show it, and tests refuse any other without a key. */
export const scattered = (name: keyof typeof scatteredStatements) => ({ comment: `scattered: ${name}` })
