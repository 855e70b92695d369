import type { ResultOf } from '#specs/index.ts'
import type { Json, StoredRecord } from '#storage/index.ts'
import { activities } from '../runtime/internal.ts'

export type ListedActor = ResultOf<'observation.actors'>['data'][number]

/** Fields of rows that serve as an actor's label, in order of preference; those after what it is about only say of what kind it is. */
const labels = ['tool', 'event_type', 'title', 'name', 'connector', 'url']
const kinds = ['version', 'model']

/** Converts a list row of any machine; `label` is what it is about, for a row whose fields do not name it. Rows written by releases without `actor_state` show their status. */
export const listedActor = (
  machine: string,
  row: StoredRecord,
  { error = null, failures = 0, label = null }: Partial<Pick<ListedActor, 'error' | 'failures' | 'label'>> = {},
): ListedActor => {
  const { data } = row
  return {
    id: row.id,
    machine,
    state: textOf(data.actor_state) ?? textOf(data.status) ?? '',
    activity: activities.find((each) => each === data.actor_activity) ?? 'waiting',
    label: firstText(data, labels) ?? label ?? firstText(data, kinds),
    error,
    failures,
    tenant_id: row.tenant,
    external_user_id: row.user,
    agent_id: textOf(data.agent_id),
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  }
}

const firstText = (data: StoredRecord['data'], fields: readonly string[]): string | null =>
  fields.map((field) => textOf(data[field])).find((text) => text !== null) ?? null

/** The value if it is a string; else null. */
export const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)
