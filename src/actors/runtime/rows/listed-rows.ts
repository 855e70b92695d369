import type { ListFilter, RecordKind } from '#storage/ports.ts'

/** Fields of every actor's row in addition to those that its machine declares (actor-row.ts). */
const ownFields = ['actor_state', 'actor_activity'] as const

const filters: readonly ListFilter[] = [
  { fields: ['actor_state'] },
  { fields: ['actor_state'], within: 'tenant' },
  { fields: ['actor_activity'] },
]

/** Adds to a kind of actor rows the filters that all lists of actors have; tenant exports omit their fields. */
export const listedRows = <K extends RecordKind & { readonly unexported?: readonly string[] }>(kind: K) => ({
  ...kind,
  filters: [...(kind.filters ?? []), ...filters],
  unexported: [...(kind.unexported ?? []), ...ownFields],
})
