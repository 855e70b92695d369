import type { ResultOf } from '#specs/index.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'

export type TenantData = {
  readonly external_id: string
  readonly name: string
  readonly status: ResultOf<'tenants.get'>['status']
  readonly region: string | null
  readonly metadata: JsonObject
}

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

/** A tenant user whose deletion with `hard=true` was requested a short time ago. */
export type ForgottenUserData = { readonly mark: string }

/** A tenant's row belongs to the tenant itself, so a scope of another tenant does not see it. */
export const tenants: TypedKind<TenantData> = {
  name: 'tenants',
  unique: [{ fields: ['external_id'] }],
  filters: ['status'],
  outbox: true,
  erasure: 'kept',
  exported: null,
}

/** The row's `tenant` and `user` are the tenant's id and the external id, so that what forgets the user takes it along. */
export const tenantUsers: TypedKind<TenantUserData> = {
  name: 'tenant_users',
  exported: 'users',
  unique: [{ fields: ['tenant_id', 'external_user_id'] }],
  filters: [
    { fields: ['state'], within: 'tenant' },
    { fields: ['external_user_id'], narrow: true },
  ],
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
  exported: null,
}

/** All kinds of this folder, for `RecordStore.prepare`. */
export const tenantKinds: readonly AnyKind[] = [tenants, tenantUsers, endUsers, forgottenUsers]
