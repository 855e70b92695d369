import { erasureDefinition, erasureSink } from '#machines/erasure/erasure.ts'
import type { JsonObject } from '#storage/index.ts'
import type { AuditActor } from '../records/audit-note.ts'
import type { Notice } from '../records/notices.ts'
import { derivedId, isObject } from '../runtime/index.ts'
import type { Host, Sink } from '../runtime/internal.ts'

/** The tenant or end user to erase. */
export interface Erased {
  readonly tenant_id: string
  /** The tenant's external id. */
  readonly external_id: string
  /** External id of the user; null for the whole tenant. */
  readonly user: string | null
  readonly by: AuditActor
}

/**
 * Message that starts an erasure. It is committed with the change of the tenant's or user's row, so the erasure starts
 * whatever happens afterwards.
 */
export const erasureNotice = ({ by, ...erased }: Erased, at: number): Notice => ({
  kind: 'message',
  to: erasureSink,
  event: { type: 'erase', at, input: { project_id: null, ...erased, by: { ...by } } },
})

/**
 * Sink that creates the erasure actor. For a tenant or user it belongs to the project, and for a project to the
 * organisation. It runs until nothing is left, and removes itself last.
 */
export const startErasures =
  (host: Pick<Host, 'create'>): Sink =>
  async ({ project }, { id, event }, again) => {
    const at = typeof event.at === 'number' ? event.at : 0
    const erasureId = derivedId(erasureDefinition.idPrefix, at, id)
    const input: JsonObject = { ...(isObject(event.input) ? event.input : {}), erasure_id: erasureId }
    await host.create({
      kind: erasureDefinition,
      id: erasureId,
      owner: { project, tenant: null, user: null, createdAt: at },
      input,
      cause: id,
      again,
    })
  }
