import type { Commit, JsonObject, RecordKind, RecordStore, Storage, StoredRecord } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import type { VectorStore } from '#storage/search/vector-port.ts'
import type { Clock } from '../clock.ts'
import { readOwner } from '../step/actor-state.ts'

/**
 * Marks of actors whose log was removed recently. A write that was sent before the removal may reach the store after
 * it, and would look like the newest commit of an existing actor.
 */
export const erasedActors: RecordKind & { readonly exported: null } = { name: 'erased_actors', exported: null }

/** All projects share one scope for marks, because a process reads them all when it starts. */
const marksScope = projectScope('system')

/** Lifetime of a mark, in ms: longer than a store can delay a write. */
const keptMs = 60 * 60 * 1000

/** Maximum number of erased actors of one id that a mark names; of earlier ones nothing arrives any more. */
const maxMade = 16

/**
 * Marks an actor whose log is being removed; call it before removing the log. The mark names no tenant and no user,
 * since nothing of them may remain. It has the times of creation of the actors that had the id, so that one that is made
 * again is not taken for what is left of them.
 *
 * @param made time of its creation (`Owner.createdAt`).
 * @throws {StoreUnavailable}
 */
export const markErased = async (
  records: RecordStore,
  { actor, made, now }: { readonly actor: string; readonly made: number; readonly now: number },
): Promise<void> => {
  const { project } = marksScope
  // by time, so that it is higher than that of a mark that has expired
  const times = { version: now, created_at: now, updated_at: now, expires_at: now + keptMs }
  const mark = { id: actor, project, tenant: null, user: null, ...times }
  if ((await records.insert(erasedActors, { ...mark, data: { made: [made] } })) === 'done') return
  const before = madeOf((await records.get(erasedActors, marksScope, actor))?.data)
  if (before.includes(made)) return
  const record = { ...mark, data: { made: [...before, made].slice(-maxMade) } }
  await records.project([{ kind: erasedActors, record }])
}

/** The times of creation in a mark; none in one of an earlier release. */
const madeOf = (mark: JsonObject | undefined): readonly number[] =>
  Array.isArray(mark?.made) ? mark.made.filter((each) => typeof each === 'number') : []

/** Whether a commit is of an actor that was erased, by the mark of its id. */
const isOfErased = (commit: Commit, mark: JsonObject): boolean => {
  const made = madeOf(mark)
  // a creation that was tried again has a later time than its first attempt, which may arrive late
  const isKnown = made.length > 0 && commit.snapshot !== undefined
  return !isKnown || readOwner(commit).createdAt <= Math.max(...made)
}

/** Whether an actor's log was removed recently. @throws {StoreUnavailable} */
export const isErased = async (records: RecordStore, actor: string): Promise<boolean> =>
  (await records.get(erasedActors, marksScope, actor)) !== null

/**
 * Returns the newest commit of an actor, and whether it is a leftover of a removed log. The mark is read after the
 * commit: an erasure in between would let a late write pass for a live actor.
 *
 * @param isCertain whether such a commit is certainly no leftover, so that a mark is not looked up where that takes a read.
 * @throws {StoreUnavailable}
 */
export const readHead = async (
  { commits, records }: Pick<Storage, 'commits' | 'records'>,
  actor: string,
  isCertain: (head: Commit) => boolean = () => false,
): Promise<{ readonly head: Commit | null; readonly isLeftOver: boolean }> => {
  if (commits.headBeside !== undefined) {
    const { head, beside } = await commits.headBeside(actor, erasedActors, marksScope.project)
    return { head, isLeftOver: beside !== null && (head === null || isOfErased(head, beside)) }
  }
  const head = await commits.head(actor)
  return { head, isLeftOver: head !== null && !isCertain(head) && (await isLeftOver(records, head)) }
}

/** Whether a commit is left over of an actor whose log was removed recently. @throws {StoreUnavailable} */
export const isLeftOver = async (records: RecordStore, commit: Commit): Promise<boolean> => {
  const mark = await records.get(erasedActors, marksScope, commit.actor)
  return mark !== null && isOfErased(commit, mark.data)
}

const pageSize = 100
/** Maximum difference between the clocks of processes, in ms. */
const skewMs = 10_000

/** Dependencies of `removeLate`. */
export interface LateRemovalParts {
  readonly storage: Pick<Storage, 'records' | 'commits'> & {
    readonly vectors: Pick<VectorStore, 'removeGroups'> | null
  }
  readonly clock: Pick<Clock, 'soon'>
  /** Whether this process runs the actor. */
  readonly isMine: (actor: string) => boolean
}

/**
 * Removes writes that arrived after their actors' logs were removed, on behalf of a process that ended before it could.
 * A late write whose commit is closed is found by nothing else, and would stay forever.
 * @throws {StoreUnavailable}
 */
export const removeLate = async ({ storage, clock, isMine }: LateRemovalParts): Promise<void> => {
  const { records, commits, vectors } = storage
  for (let after: string | undefined; ; ) {
    const query = { limit: pageSize, ascending: true, ...(after !== undefined && { after }) }
    const page: readonly StoredRecord[] = await records.list(erasedActors, marksScope, query)
    const gone: string[] = []
    for (const { id, created_at, data } of page) {
      if (!isMine(id)) continue
      const head = await commits.head(id)
      // an actor that was created since is not a late write
      if (head !== null && (head.at >= created_at + skewMs || !isOfErased(head, data))) continue
      if (head !== null) await commits.forget(id)
      gone.push(id)
    }
    // of an actor whose vectors the database searches, such as a source, its id is their group
    await vectors?.removeGroups(gone)
    after = page.at(-1)?.id
    if (after === undefined || page.length < pageSize) return
    // an embedded store blocks other callers meanwhile
    await new Promise<void>((resolve) => clock.soon(resolve))
  }
}

/** Removes the marks of actors of a project that was imported again after its deletion. @throws {StoreUnavailable} */
export const unmarkErased = async (
  { records, commits }: Pick<Storage, 'records' | 'commits'>,
  project: string,
): Promise<void> => {
  for (let after: string | undefined; ; ) {
    const query = { limit: pageSize, ascending: true, ...(after !== undefined && { after }) }
    const page: readonly StoredRecord[] = await records.list(erasedActors, marksScope, query)
    for (const { id } of page)
      if ((await commits.head(id))?.project === project) await records.remove(erasedActors, marksScope, id)
    after = page.at(-1)?.id
    if (after === undefined) return
  }
}
