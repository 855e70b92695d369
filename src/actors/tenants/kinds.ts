import type { ResultOf } from '#specs/index.ts'
import type { JsonObject } from '#storage/index.ts'
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
  /**
   * `removed`: deleted, but its data is kept, and a PUT restores the user under the same id; `forgotten`: its data is
   * being erased.
   */
  readonly state: 'active' | 'removed' | 'forgotten'
}

export type EndUserData = {
  readonly external_id: string
  readonly display_name: string | null
  readonly email: string | null
  readonly metadata: JsonObject
}

/** Marks a tenant user who was deleted a short time ago, so that the user's tokens are refused. */
export type ForgottenUserData = { readonly mark: string }

/** Tenants. A tenant's row belongs to the tenant itself, so a scope of another tenant does not include it. */
export const tenants: TypedKind<TenantData> = {
  name: 'tenants',
  unique: [{ fields: ['external_id'] }],
  filters: ['status'],
  outbox: true,
  erasure: 'kept',
  exported: null,
}

/**
 * Users of tenants. `tenant` and `user` of a row are the tenant's id and the user's external id. An erasure of the user
 * removes the row at its end: until then it refuses that the user is created again, whose data would be erased too.
 */
export const tenantUsers: TypedKind<TenantUserData> = {
  name: 'tenant_users',
  erasure: 'last',
  exported: 'users',
  unique: [{ fields: ['tenant_id', 'external_user_id'] }],
  filters: [
    { fields: ['state'], within: 'tenant' },
    { fields: ['external_user_id'], narrow: true },
  ],
  outbox: true,
}

/** Users of the project as a whole; they have no tenant. */
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
