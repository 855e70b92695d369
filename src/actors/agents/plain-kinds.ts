import type { BodyOf, ResultOf } from '../../../specs/index.ts'
import type { JsonObject, RecordKind } from '../../storage/ports.ts'
import type { TypedKind } from '../records/schema.ts'

/** What an agent runs on, as its caller wrote it. */
export type AgentConfig = BodyOf<'agents.create'>['config']

export type AgentData = { readonly name: string; readonly description: string | null; readonly config: AgentConfig }

export type TenantData = {
  readonly external_id: string
  readonly name: string
  readonly status: ResultOf<'tenants.get'>['status']
  readonly region: string | null
  readonly metadata: JsonObject
}

/** Of the project: they have no tenant. */
export const agents: TypedKind<AgentData> = { name: 'agents', outbox: true }

/** A tenant's row belongs to the tenant itself, so that a scope of another tenant does not see it. */
export const tenants: TypedKind<TenantData> = {
  name: 'tenants',
  unique: [{ fields: ['external_id'] }],
  filters: ['status'],
  outbox: true,
}

/** All kinds of this file, for `RecordStore.prepare`. */
export const recordKinds: readonly RecordKind[] = [agents, tenants]
