import type { Commit, RecordKind, RecordStore, Storage, StoredRecord } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import type { VectorStore } from '#storage/search/vector-port.ts'
import type { Clock } from '../clock.ts'

/**
 * Marks of actors whose log was removed recently. A write that was sent before the removal may reach the store after
 * it, and would look like the newest commit of an existing actor.
 */
export const erasedActors: RecordKind & { readonly exported: null } = { name: 'erased_actors', exported: null }

/** All projects share one scope for marks, because a process reads them all when it starts. */
const marksScope = projectScope('system')

/** Lifetime of a mark, in ms: longer than a store can delay a write. */
const keptMs = 60 * 60 * 1000

/**
 * Marks an actor whose log is being removed; call it before removing the log. The mark names no tenant and no user,
 * since nothing of them may remain.
 * @throws {StoreUnavailable}
 */
export const markErased = async (
  records: RecordStore,
  { actor, now }: { readonly actor: string; readonly now: number },
): Promise<void> => {
  const { project } = marksScope
  const times = { version: 1, created_at: now, updated_at: now, expires_at: now + keptMs }
  await records.insert(erasedActors, { id: actor, project, tenant: null, user: null, ...times, data: {} })
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
    return { head, isLeftOver: beside }
  }
  const head = await commits.head(actor)
  return { head, isLeftOver: head !== null && !isCertain(head) && (await isErased(records, actor)) }
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
    for (const { id, created_at } of page) {
      if (!isMine(id)) continue
      const head = await commits.head(id)
      // an actor that was created since, by an import, is not a late write
      if (head !== null && head.at >= created_at + skewMs) continue
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
