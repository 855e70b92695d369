import { erasureDefinition } from '#machines/erasure/erasure.ts'
import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import { projectScope, wholeProjectScope } from '#storage/index.ts'
import { isId } from '../runtime/index.ts'
import { removeLog, requestErasure } from '../runtime/internal.ts'
import type { Left, OwnedParts } from './owner-eraser.ts'

const pageSize = 200
const atOnce = 16

/** Erasures end by themselves when what they remove is gone. */
const endsByItself = (actor: string): boolean => isId(actor, erasureDefinition.idPrefix)

/** The queue of runs never ends by itself: its log is removed after everything else. */
const hasNoEnd = (actor: string): boolean => isId(actor, runQueueDefinition.idPrefix)

/** Removes everything that belongs to a project: all actors, all records of all kinds, and all blobs. */
export class ProjectEraser {
  readonly #parts: OwnedParts

  constructor(parts: OwnedParts) {
    this.#parts = parts
  }

  /**
   * Removes what exists at the moment, and returns what is left: items that arrived meanwhile, and actors that take
   * longer. @throws {StoreUnavailable}
   */
  async erase(project: string): Promise<Left> {
    const actors = await this.#eraseActors(project)
    const { storage, kinds } = this.#parts
    const scope = wholeProjectScope(project)
    for (const kind of kinds) {
      for (let gone = pageSize; gone === pageSize; ) gone = await storage.records.clear(kind, scope, pageSize)
    }
    await this.#eraseSettings(project)
    // an actor that still exists needs its blobs to load
    if (actors === 0) await this.#eraseBlobs(project)
    return this.#left(project)
  }

  async #left(project: string): Promise<Left> {
    const { storage, kinds } = this.#parts
    const left: Record<string, number> = {}
    for (const kind of kinds) left[kind.name] = await storage.records.left(kind, wholeProjectScope(project))
    left.actors = (await storage.commits.actorsOf(project, null, { after: null, limit: pageSize })).length
    left.blobs = (await storage.blobs.hashes(project, null, pageSize)).length
    return Object.fromEntries(Object.entries(left).filter(([, count]) => count > 0))
  }

  /**
   * Deletes the project's actors. Returns how many there were; 0 when only the queue of runs was left, which it then
   * removed.
   */
  async #eraseActors(project: string): Promise<number> {
    const { commits } = this.#parts.storage
    let [found, endless]: [number, string[]] = [0, []]
    for (let after: string | null = null; ; ) {
      const actors: readonly string[] = await commits.actorsOf(project, null, { after, limit: pageSize })
      found += actors.length
      endless = [...endless, ...actors.filter(hasNoEnd)]
      const others = actors.filter((actor) => !endsByItself(actor) && !hasNoEnd(actor))
      for (let first = 0; first < others.length; first += atOnce)
        await Promise.all(others.slice(first, first + atOnce).map((actor) => this.#eraseActor(actor, project)))
      after = actors.at(-1) ?? null
      if (after === null || actors.length < pageSize) break
    }
    if (found > endless.length) return found
    for (const actor of endless) await removeLog(this.#parts, { actor, project, tenant: null })
    return 0
  }

  /**
   * Deletes an actor. An actor that is unknown may have commits that arrived after its log was removed; those are
   * removed.
   */
  async #eraseActor(actor: string, project: string): Promise<void> {
    const event = { by: { kind: 'system', id: null }, at: this.#parts.clock.now() }
    if (await requestErasure(this.#parts, { actor, project, tenant: null, event })) return
    await this.#parts.storage.commits.forget(actor)
  }

  /** Removes settings of the project that are stored at installation level. */
  async #eraseSettings(project: string): Promise<void> {
    const { storage, kinds } = this.#parts
    for (const kind of kinds) {
      const id = kind.ofProject?.(project)
      if (id !== undefined) await storage.records.remove(kind, projectScope('system'), id)
    }
  }

  async #eraseBlobs(project: string): Promise<void> {
    const { blobs, search, vectors } = this.#parts.storage
    await search?.drop(project, null)
    await vectors?.removeProject(project)
    for (;;) {
      const names = await blobs.hashes(project, null, pageSize)
      for (let first = 0; first < names.length; first += atOnce)
        await Promise.all(names.slice(first, first + atOnce).map((name) => blobs.remove(project, name)))
      if (names.length < pageSize) return
    }
  }
}
