import { projectScope } from '#specs/scope.ts'
import type { Commit, RecordKind, RecordStore, Storage, StoredRecord } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'

/**
 * Actors whose log was removed a short time ago. A write that was sent before may reach the store after, and would
 * stand there like the newest commit of an actor that goes on.
 */
export const erasedActors: RecordKind & { readonly exported: null } = { name: 'erased_actors', exported: null }

/** Marks of all projects are together: a process that starts looks at each. */
const marksScope = projectScope('system')

/** Longer than a store holds back a write, in ms. */
const keptMs = 60 * 60 * 1000

/**
 * Notes that an actor's log is being removed; call it before removing it. The note names no tenant and no user: nothing of
 * them is to be left. @throws {StoreUnavailable}
 */
export const markErased = async (
  records: RecordStore,
  { actor, now }: { readonly actor: string; readonly now: number },
): Promise<void> => {
  const { project } = marksScope
  const times = { version: 1, created_at: now, updated_at: now, expires_at: now + keptMs }
  await records.insert(erasedActors, { id: actor, project, tenant: null, user: null, ...times, data: {} })
}

/** Whether an actor's log was removed a short time ago. @throws {StoreUnavailable} */
export const isErased = async (records: RecordStore, actor: string): Promise<boolean> =>
  (await records.get(erasedActors, marksScope, actor)) !== null

/** Whether this newest commit is left over from a log that was removed. @throws {StoreUnavailable} */
export const isLeftOver = (records: RecordStore, { actor }: Commit): Promise<boolean> => isErased(records, actor)

const pageSize = 100
/** Clocks of processes are off by up to so many ms. */
const skewMs = 10_000

/** What removing late writes needs. */
export interface LateRemovalParts {
  readonly storage: Pick<Storage, 'records' | 'commits'>
  readonly clock: Pick<Clock, 'soon'>
  /** Whether an actor is this process's to look after. */
  readonly isMine: (actor: string) => boolean
}

/**
 * Removes what came in of actors after their logs were removed, for a process that has ended before it could: a late write that
 * was closed as well is found by nothing else, and would stay for ever. @throws {StoreUnavailable}
 */
export const removeLate = async ({ storage, clock, isMine }: LateRemovalParts): Promise<void> => {
  const { records, commits } = storage
  for (let after: string | undefined; ; ) {
    const query = { limit: pageSize, ascending: true, ...(after !== undefined && { after }) }
    const page: readonly StoredRecord[] = await records.list(erasedActors, marksScope, query)
    for (const { id, created_at } of page) {
      const head = isMine(id) ? await commits.head(id) : null
      // one that was made since, by an import, is no late write
      if (head !== null && head.at < created_at + skewMs) await commits.forget(id)
    }
    after = page.at(-1)?.id
    if (after === undefined || page.length < pageSize) return
    // an embedded store answers no other caller meanwhile
    await new Promise<void>((resolve) => clock.soon(resolve))
  }
}
