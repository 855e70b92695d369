import { erasureDefinition, erasureSink } from '#machines/erasure/erasure.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { AuditActor } from '../records/audit-note.ts'
import type { Notice } from '../records/notices.ts'
import type { Host } from '../runtime/host.ts'
import { derivedId } from '../runtime/ids.ts'
import { isObject } from '../runtime/schema.ts'
import type { Sink } from '../runtime/sinks.ts'

/** Whom to remove: a tenant, or one user of it. */
export interface Erased {
  readonly tenant_id: string
  /** The caller's id of the tenant. */
  readonly external_id: string
  /** External id of the user; null for the whole tenant. */
  readonly user: string | null
  readonly by: AuditActor
}

/** What a change of the tenant's or the user's row says, so that the removal begins whatever happens after it. */
export const erasureNotice = ({ by, ...erased }: Erased, at: number): Notice => ({
  kind: 'message',
  to: erasureSink,
  event: { type: 'erase', at, input: { project_id: null, ...erased, by: { ...by } } },
})

/**
 * Makes the actor that removes. It belongs to the project and not to the tenant, or to the organisation and not to the
 * project: it goes on until nothing is left, and goes last.
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
