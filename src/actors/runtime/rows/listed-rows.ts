import type { ListFilter, RecordKind } from '#storage/ports.ts'

/** Fields of every actor's row in addition to those that its machine declares (actor-row.ts). */
const ownFields = ['actor_state', 'actor_activity'] as const

const filters: readonly ListFilter[] = [
  { fields: ['actor_state'] },
  { fields: ['actor_state'], within: 'tenant' },
  { fields: ['actor_activity'] },
]

/**
 * Extends a record kind of actor rows with the filters that lists of every machine have. Tenant exports omit these
 * fields.
 */
export const listedRows = <K extends RecordKind & { readonly unexported?: readonly string[] }>(kind: K) => ({
  ...kind,
  filters: [...(kind.filters ?? []), ...filters],
  unexported: [...(kind.unexported ?? []), ...ownFields],
})
