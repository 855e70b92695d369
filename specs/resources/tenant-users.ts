import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { defineResource } from '../resource.ts'
import { boolean, constant, defaulted, id, nullable, object, string } from '../schema.ts'
import { metadata } from '../tools.ts'

const resource = {
  path: '/v1/tenants/{tenant_id}/users',
  key: 'external_user_id',
  idPrefix: 'usr',
  title: 'TenantUser',
  fields: {
    tenant_id: string(),
    external_user_id: string(),
    display_name: nullable(string({ maxLength: 256 })),
    email: nullable(string({ format: 'email', maxLength: 320 })),
    metadata,
  },
  writable: ['display_name', 'email', 'metadata'],
} as const

const open = defineResource('tenant_users', {
  ...resource,
  access: secretKeyOrDashboard('member'),
  operations: { get: {}, put: { errors: ['invalid_field'] } },
})

const secret = defineResource('tenant_users', {
  ...resource,
  access: secretKeyOnly,
  operations: { list: {}, update: {} },
})

const removal = defineOperations('tenant_users', {
  delete: {
    summary: 'Remove a user; with hard=true everything that it owns is forgotten',
    method: 'DELETE',
    path: `${resource.path}/{external_user_id}`,
    access: secretKeyOrDashboard('member'),
    query: { hard: defaulted(boolean(), false) },
    answer: answersJson(object({ id: id('usr'), deleted: constant(true) })),
  },
})

/** Users of one tenant, named by the id that the caller has for them (interface "Tenant users"). */
export const tenantUsers = { ...open, ...secret, ...removal } as const
