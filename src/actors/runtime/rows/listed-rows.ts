import type { ListFilter, RecordKind } from '#storage/ports.ts'

/** What every actor's row says beside what its machine declares (actor-row.ts). */
const ownFields = ['actor_state', 'actor_activity'] as const

const filters: readonly ListFilter[] = [
  { fields: ['actor_state'] },
  { fields: ['actor_state'], within: 'tenant' },
  { fields: ['actor_activity'] },
]

/** A kind of list rows of actors, with what lists of every machine filter on. No export of a tenant shows it. */
export const listedRows = <K extends RecordKind & { readonly unexported?: readonly string[] }>(kind: K) => ({
  ...kind,
  filters: [...(kind.filters ?? []), ...filters],
  unexported: [...(kind.unexported ?? []), ...ownFields],
})
