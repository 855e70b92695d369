import { createHash } from 'node:crypto'
import { type LogEvent, projectScope, type Storage } from '#storage/index.ts'
import type { Owner } from '../runtime/index.ts'
import { actorBlobs, isTooLong, streamPage } from '../runtime/internal.ts'
import { Conversation } from './conversation.ts'
import { sessionCheckpoints } from './kinds.ts'
import { conversationState } from './schema.ts'

/** Reads the events of a session's log after a sequence (`Host.readLog`). */
export type ReadLog = (actor: string, after: number) => readonly LogEvent[] | Promise<readonly LogEvent[]>

/**
 * Memory for cached conversations, as `Conversation.size`. A cached conversation only needs the new events of a turn.
 */
export const maxKept = 32 * 1024 * 1024
/** Memory of a cache entry in addition to its messages, in the same unit. */
const entrySize = 500
/**
 * A conversation unused for this many ms is dropped from memory, like its actor (runtime.ts), and read from its log
 * again.
 */
export const keptMs = 5 * 60_000

interface Kept {
  readonly conversation: Conversation
  readonly size: number
  readonly usedAt: number
}

/** How far a conversation is read ahead; `isFirst` as for `Conversations.of`. */
interface Ahead {
  readonly isFirst: boolean
  /** Sequence of a durable event. */
  readonly through: number
}

/** Cache of the conversations of sessions, folded from their logs on demand. */
export class Conversations {
  readonly #storage: Storage
  readonly #readLog: ReadLog
  readonly #now: () => number
  readonly #kept = new Map<string, Kept>()
  /** Conversations that are being read ahead. */
  readonly #coming = new Map<string, Promise<void>>()
  #size = 0

  constructor(storage: Storage, readLog: ReadLog, now: () => number) {
    this.#storage = storage
    this.#readLog = readLog
    this.#now = now
  }

  /**
   * Returns the conversation up to the newest event of the log. `isFirst`: in its first turn, of which there is no
   * checkpoint to read.
   *
   * @throws {StoreUnavailable}
   */
  async of(session: string, owner: Owner, isFirst = false): Promise<Conversation> {
    const coming = this.#coming.get(session)
    if (coming !== undefined) await coming
    const kept = this.#kept.get(session)?.conversation
    const conversation = kept ?? (isFirst ? new Conversation() : await this.#load(session, owner))
    for (;;) {
      const read = this.#readLog(session, conversation.through)
      const events = read instanceof Promise ? await read : read
      if (events.length === 0) {
        this.#keep(session, conversation)
        return conversation
      }
      conversation.apply(events)
    }
  }

  /**
   * Reads the conversation of a session that is being taken over, up to an event that is durable: beside the session's
   * load and not after it, since the readers of a turn that a crash cut wait for both.
   */
  foresee(session: string, owner: Owner, ahead: Ahead): void {
    if (this.#kept.has(session) || this.#coming.has(session)) return
    // what cannot be read ahead is read when it is needed
    const coming = this.#read(session, owner, ahead).catch(() => {})
    this.#coming.set(session, coming)
    void coming.then(() => this.#coming.delete(session))
  }

  async #read(session: string, owner: Owner, { isFirst, through }: Ahead): Promise<void> {
    const conversation = isFirst ? new Conversation() : await this.#load(session, owner)
    const log = { storage: this.#storage, actor: session, project: owner.project }
    while (conversation.through < through) {
      const events = await streamPage(log, conversation.through)
      if (events.length === 0) return
      conversation.apply(events)
    }
    this.#keep(session, conversation)
  }

  /** Stores the current conversation, so that replay starts there (specs/decisions/0001-sessions.md). */
  async checkpoint(session: string, owner: Owner): Promise<void> {
    const conversation = await this.of(session, owner)
    const content = JSON.stringify(conversation.state)
    // the earlier checkpoint remains valid: later events are read from the log
    if (isTooLong(content)) return
    const hash =
      actorBlobs({ actor: session, tenant: owner.tenant }) + createHash('sha256').update(content).digest('hex')
    await this.#storage.blobs.put(owner.project, hash, content)
    const now = this.#now()
    const record = {
      id: session,
      project: owner.project,
      tenant: owner.tenant,
      user: owner.user,
      version: conversation.through,
      created_at: now,
      updated_at: now,
      expires_at: null,
      data: { hash, through: conversation.through },
    }
    const before = await this.#storage.records.get(sessionCheckpoints, projectScope(owner.project), session)
    await this.#storage.records.project([{ kind: sessionCheckpoints, record }])
    // without this removal, the blobs of a session would grow with the square of its turns
    const replaced = before?.data.hash
    if (typeof replaced === 'string' && replaced !== hash) await this.#storage.blobs.remove(owner.project, replaced)
  }

  /** Removes the checkpoint of a session; its blobs are removed with its log (erasure/erase-actor.ts). */
  async forget(session: string, owner: Owner): Promise<void> {
    await this.#coming.get(session)
    this.#drop(session)
    await this.#storage.records.remove(sessionCheckpoints, projectScope(owner.project), session)
  }

  async #load(session: string, owner: Owner): Promise<Conversation> {
    const record = await this.#storage.records.get(sessionCheckpoints, projectScope(owner.project), session)
    const hash = record?.data.hash
    const content = typeof hash === 'string' ? await this.#storage.blobs.get(owner.project, hash) : null
    return content === null ? new Conversation() : new Conversation(conversationState(content))
  }

  /** Caches the conversation as the most recently used one, and evicts the least recently used by size and by age. */
  #keep(session: string, conversation: Conversation): void {
    const now = this.#now()
    const size = conversation.size + entrySize
    this.#drop(session)
    this.#kept.set(session, { conversation, size, usedAt: now })
    this.#size += size
    for (const [oldest, { usedAt }] of this.#kept) {
      const stays = this.#size <= maxKept && now - usedAt < keptMs
      if (stays || oldest === session) return
      this.#drop(oldest)
    }
  }

  #drop(session: string): void {
    const kept = this.#kept.get(session)
    if (kept === undefined) return
    this.#size -= kept.size
    this.#kept.delete(session)
  }
}
