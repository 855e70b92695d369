import { isDeepStrictEqual } from 'node:util'
import {
  type AppendOutcome,
  type Commit,
  projectScope,
  type RecordKind,
  type Storage,
  type StoredRecord,
  StoreUnavailable,
} from '#storage/index.ts'
import { projectKeys } from '../accounts/kinds.ts'
import type { Services } from '../capability/services.ts'
import { type Shards, shardsOf } from '../runtime/internal.ts'
import { BackupError } from './backup-error.ts'
import type { Item } from './schema.ts'
import { SealedFields } from './sealed-fields.ts'

const maxItems = 200
const maxChars = 4_000_000
/** About 25 s in total: longer than a replica set takes to elect a new primary. */
const maxTries = 8
const firstPauseMs = 100

/** Dependencies of `ItemWriter`. */
export interface ItemWriterParts extends Pick<Services, 'kinds' | 'storage'> {
  /** The project to which blobs belong; a blob itself does not name it. */
  readonly project: string
  readonly pause: (ms: number) => Promise<unknown>
}

/**
 * Writes items to a store in batches. Items that exist with equal content are skipped, so that an interrupted import
 * can be repeated.
 */
export class ItemWriter {
  /** Ids of secret keys that could not be imported, because their hash belongs to another project. */
  readonly taken: string[] = []
  readonly #storage: Storage
  readonly #shards: Shards
  readonly #project: string
  readonly #pause: (ms: number) => Promise<unknown>
  readonly #kinds: ReadonlyMap<string, RecordKind>
  readonly #sealed: SealedFields
  #bodies: Commit[] = []
  #heads: Commit[] = []
  #others: (() => Promise<void>)[] = []
  #newest: Commit | undefined
  /**
   * The current type of items. Blobs and each kind of record are only written after everything before them in the file.
   */
  #sort = ''
  #chars = 0

  constructor({ storage, kinds, project, pause }: ItemWriterParts) {
    this.#storage = storage
    this.#shards = shardsOf(storage)
    this.#project = project
    this.#pause = pause
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]))
    this.#sealed = new SealedFields(kinds)
  }

  /** Adds an item; `size` is the length of its line. @throws {BackupError} when a different item has its id. */
  async put(item: Item, size: number): Promise<void> {
    if (item.type === 'commit') this.#putCommit(item.commit)
    else {
      const sort = item.type === 'record' ? item.kind : 'blob'
      if (sort !== this.#sort) await this.end()
      this.#sort = sort
      this.#others.push(item.type === 'record' ? () => this.#putRecord(item) : () => this.#putBlob(item))
    }
    this.#chars += size
    const waiting = this.#bodies.length + this.#heads.length + this.#others.length
    if (waiting >= maxItems || this.#chars >= maxChars) await this.#write()
  }

  /** Writes all remaining items. */
  async end(): Promise<void> {
    this.#endActor()
    await this.#write()
  }

  #putCommit(commit: Commit): void {
    if (this.#newest?.actor === commit.actor) this.#bodies.push({ ...asFound(this.#newest, this.#shards), due: null })
    else this.#endActor()
    this.#newest = commit
  }

  /** An actor's newest commit holds its state and reminders, so it is written after the actor's earlier commits. */
  #endActor(): void {
    if (this.#newest !== undefined) this.#heads.push(asFound(this.#newest, this.#shards))
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

  async #putBlob({ type, hash, content }: Item & { readonly type: 'blob' | 'bytes' }): Promise<void> {
    await this.#storage.blobs.put(this.#project, hash, type === 'blob' ? content : Buffer.from(content, 'base64'))
  }

  /** Ignores unknown kinds: the file's inventory lists none, so they only have records that expire. */
  async #putRecord({ kind: name, record }: Item & { readonly type: 'record' }): Promise<void> {
    const kind = this.#kinds.get(name)
    if (kind === undefined) return
    if ((await this.#storage.records.insert(kind, record)) === 'done') return
    const there = await this.#storage.records.get(kind, projectScope(record.project), record.id)
    if (there !== null && this.#isSame(name, there, record)) return
    if (there !== null || name !== projectKeys.name) throw inTheWay(record.id)
    this.taken.push(record.id)
  }

  /** Compares records without sealed values and outboxes, since messages may have been delivered meanwhile. */
  #isSame(kind: string, a: StoredRecord, b: StoredRecord): boolean {
    const [one, other] = [a, b].map((record) => ({ ...this.#sealed.unsealed(kind, record), outbox: undefined }))
    return isDeepStrictEqual(one, other)
  }
}

/**
 * A commit as if no process of this store wrote it. Epoch 0 precedes that of every host, so the next host that starts
 * resumes the work that the commit left open.
 */
const asFound = (commit: Commit, shards: Shards): Commit => ({ ...commit, epoch: 0, shard: shards.of(commit.actor) })

const inTheWay = (id: string): BackupError =>
  new BackupError(
    `This store already has another item with the id ${id}. It was not changed; the import is incomplete.`,
  )
