import { erasureMachine } from '#machines/erasure/erasure.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import { pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The erasure of a whole tenant. */
export const input = {
  erasure_id: 'era_01kdvdna00fedcba9876543211',
  project_id: null,
  tenant_id: 'ten_a',
  external_id: 'acme',
  user: null,
  by: { kind: 'secret_key', id: 'key_a' },
}

/** Instead of the tenant, for a whole project. */
export const ofProject = { project_id: 'prj_a', tenant_id: null, external_id: null }

/** A round has ended, and found this. */
export const found = (left: JsonObject): StoredEvent => ({ type: 'round_done', left })

const pauseIsOver: StoredEvent = { type: 'xstate.after.pause.erasure.waiting' }

/** Every event in every state of an erasure. */
export const walkOf = (of: Partial<typeof ofProject> | { readonly user: string }): Walk => ({
  machine: erasureMachine,
  input: { ...input, ...of },
  events: [found({}), found({ sessions: 3 }), pauseIsOver],
  kindOf: ({ value, context }) => `${pathOf(value)} ${context.quiet} ${Math.min(2, context.rounds)}`,
})
