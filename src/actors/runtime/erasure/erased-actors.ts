import { projectScope } from '#specs/scope.ts'
import type { Commit, RecordKind, RecordStore } from '#storage/ports.ts'
import type { Owner } from '../step/actor-state.ts'

/**
 * Actors whose log was removed a short time ago. A write that was sent before may reach the store after, and would
 * stand there like the newest commit of an actor that goes on.
 */
export const erasedActors: RecordKind & { readonly exported: null } = { name: 'erased_actors', exported: null }

/** Longer than a store holds back a write, in ms. */
const keptMs = 60 * 60 * 1000

/**
 * Notes that an actor's log is being removed; call it before removing it. The note names no tenant and no user: nothing of
 * them is to be left. @throws {StoreUnavailable}
 */
export const markErased = async (
  records: RecordStore,
  { actor, owner, now }: { readonly actor: string; readonly owner: Owner; readonly now: number },
): Promise<void> => {
  const { project } = owner
  const times = { version: 1, created_at: now, updated_at: now, expires_at: now + keptMs }
  await records.insert(erasedActors, { id: actor, project, tenant: null, user: null, ...times, data: {} })
}

/** Whether an actor's log was removed a short time ago. @throws {StoreUnavailable} */
export const isErased = async (records: RecordStore, project: string, actor: string): Promise<boolean> =>
  (await records.get(erasedActors, projectScope(project), actor)) !== null

/** Whether this newest commit is left over from a log that was removed. @throws {StoreUnavailable} */
export const isLeftOver = (records: RecordStore, { actor, project }: Commit): Promise<boolean> =>
  isErased(records, project, actor)
