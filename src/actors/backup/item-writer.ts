import { isDeepStrictEqual } from 'node:util'
import { projectScope } from '#specs/scope.ts'
import {
  type AppendOutcome,
  type Commit,
  type RecordKind,
  type Storage,
  type StoredRecord,
  StoreUnavailable,
} from '#storage/ports.ts'
import { projectKeys } from '../accounts/kinds.ts'
import type { AnyKind } from '../records/schema.ts'
import { shardOf } from '../runtime/recovery/shard.ts'
import { BackupError } from './backup-error.ts'
import type { Item } from './schema.ts'
import { SealedFields } from './sealed-fields.ts'

const maxItems = 200
const maxChars = 4_000_000
/** Together about 25 s: longer than a replica set takes to choose another primary. */
const maxTries = 8
const firstPauseMs = 100

/** What items are written with. */
export interface ItemWriterParts {
  readonly storage: Storage
  /** Every kind of record that there is. */
  readonly kinds: readonly AnyKind[]
  /** Whose blobs they are: a blob does not say. */
  readonly project: string
  readonly pause: (ms: number) => Promise<unknown>
}

/**
 * Writes items into a store, many at a time. What is there already and equal is left alone, so that an import that
 * broke off can be run again.
 */
export class ItemWriter {
  /** Ids of records whose unique key belongs to another project. */
  readonly taken: string[] = []
  readonly #storage: Storage
  readonly #project: string
  readonly #pause: (ms: number) => Promise<unknown>
  readonly #kinds: ReadonlyMap<string, RecordKind>
  readonly #sealed: SealedFields
  #bodies: Commit[] = []
  #heads: Commit[] = []
  #others: (() => Promise<void>)[] = []
  #newest: Commit | undefined
  /** Of one sort at a time: what comes later in the file is written only when all before it is. */
  #sort = ''
  #chars = 0

  constructor({ storage, kinds, project, pause }: ItemWriterParts) {
    this.#storage = storage
    this.#project = project
    this.#pause = pause
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]))
    this.#sealed = new SealedFields(kinds)
  }

  /** Takes an item; `size` is the length of its line. @throws {BackupError} when something else is in its place. */
  async put(item: Item, size: number): Promise<void> {
    if (item.type === 'commit') this.#putCommit(item.commit)
    else {
      const sort = item.type === 'blob' ? 'blob' : item.kind
      if (sort !== this.#sort) await this.end()
      this.#sort = sort
      this.#others.push(item.type === 'blob' ? () => this.#putBlob(item) : () => this.#putRecord(item))
    }
    this.#chars += size
    const waiting = this.#bodies.length + this.#heads.length + this.#others.length
    if (waiting >= maxItems || this.#chars >= maxChars) await this.#write()
  }

  /** Writes what still waits. */
  async end(): Promise<void> {
    this.#endActor()
    await this.#write()
  }

  #putCommit(commit: Commit): void {
    if (this.#newest?.actor === commit.actor) this.#bodies.push({ ...asFound(this.#newest), due: null })
    else this.#endActor()
    this.#newest = commit
  }

  /** An actor's newest commit carries its state and reminders: it is written after all that lead to it. */
  #endActor(): void {
    if (this.#newest !== undefined) this.#heads.push(asFound(this.#newest))
    this.#newest = undefined
  }

  async #write(): Promise<void> {
    const [bodies, heads, others] = [this.#bodies, this.#heads, this.#others]
    this.#bodies = []
    this.#heads = []
    this.#others = []
    this.#chars = 0
    await this.#append(bodies)
    await this.#append(heads)
    await Promise.all(others.map((write) => write()))
  }

  async #append(commits: readonly Commit[], tried = 0): Promise<void> {
    if (commits.length === 0) return
    const outcomes = await this.#storage.commits.append(commits)
    const unknown: Commit[] = []
    for (const [index, commit] of commits.entries()) {
      const outcome: AppendOutcome = outcomes[index] ?? 'unknown'
      if (outcome === 'unknown') unknown.push(commit)
      if (outcome === 'overtaken' || outcome === 'duplicate') await this.#assertThere(commit)
    }
    if (unknown.length === 0) return
    if (tried >= maxTries) throw new StoreUnavailable('commits are not acknowledged')
    await this.#pause(firstPauseMs * 2 ** tried)
    await this.#append(unknown, tried + 1)
  }

  async #assertThere(commit: Commit): Promise<void> {
    const there = await this.#storage.commits.at(commit.actor, commit.seq)
    if (there?.nonce !== commit.nonce || there.project !== commit.project) throw inTheWay(commit.actor)
  }

  async #putBlob({ hash, content }: Item & { readonly type: 'blob' }): Promise<void> {
    await this.#storage.blobs.put(this.#project, hash, content)
  }

  /** A kind that is not known and was not noticed before has only records that expire. */
  async #putRecord({ kind: name, record }: Item & { readonly type: 'record' }): Promise<void> {
    const kind = this.#kinds.get(name)
    if (kind === undefined) return
    if ((await this.#storage.records.insert(kind, record)) === 'done') return
    const there = await this.#storage.records.get(kind, projectScope(record.project), record.id)
    if (there !== null && this.#isSame(name, there, record)) return
    if (there !== null || name !== projectKeys.name) throw inTheWay(record.id)
    this.taken.push(record.id)
  }

  /** Messages of a record that are delivered meanwhile change nothing of it. */
  #isSame(kind: string, a: StoredRecord, b: StoredRecord): boolean {
    const [one, other] = [a, b].map((record) => ({ ...this.#sealed.unsealed(kind, record), outbox: undefined }))
    return isDeepStrictEqual(one, other)
  }
}

/**
 * A commit as no process of this store wrote it: epoch 0 is before every host's, so the next one that starts takes up
 * what the commit left open.
 */
const asFound = (commit: Commit): Commit => ({ ...commit, epoch: 0, shard: shardOf(commit.actor) })

const inTheWay = (id: string): BackupError =>
  new BackupError(
    `This store already has another item with the id ${id}. It was not changed; the import is incomplete.`,
  )
