import type { JsonObject, RecordKind } from '../../storage/ports.ts'
import type { TypedKind } from '../records/schema.ts'

export type TenantUserData = {
  readonly tenant_id: string
  readonly external_user_id: string
  readonly display_name: string | null
  readonly email: string | null
  readonly metadata: JsonObject
  /** `removed`: deleted, but not forgotten; `forgotten`: being forgotten. A PUT brings it back under the same id. */
  readonly state: 'active' | 'removed' | 'forgotten'
}

export type EndUserData = {
  readonly external_id: string
  readonly display_name: string | null
  readonly email: string | null
  readonly metadata: JsonObject
}

/** A tenant user whose deletion with `hard=true` was asked for a short time ago. */
export type ForgottenUserData = { readonly mark: string }

/** The row's `tenant` and `user` are the tenant's id and the external id, so that what forgets the user takes it along. */
export const tenantUsers: TypedKind<TenantUserData> = {
  name: 'tenant_users',
  unique: [{ fields: ['tenant_id', 'external_user_id'] }],
  filters: [{ fields: ['state'], within: 'tenant' }],
  outbox: true,
}

/** Of the project: they have no tenant. */
export const endUsers: TypedKind<EndUserData> = {
  name: 'end_users',
  unique: [{ fields: ['external_id'] }],
  outbox: true,
}

export const forgottenUsers: TypedKind<ForgottenUserData> = {
  name: 'forgotten_users',
  unique: [{ fields: ['mark'], global: true }],
}

/** All kinds of this folder, for `RecordStore.prepare`. */
export const tenantKinds: readonly RecordKind[] = [tenantUsers, endUsers, forgottenUsers]
