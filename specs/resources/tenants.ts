import { secretKeyOrDashboard } from '../access.ts'
import { defineResource } from '../resource.ts'
import { nullable, oneOf, optional, string } from '../schema.ts'
import { metadata } from '../tools.ts'

const status = oneOf('active', 'suspended', 'deleting', 'deleted')

/** A customer of the caller; creating one again by `external_id` changes it (interface "Tenant"). */
export const tenants = defineResource('tenants', {
  path: '/v1/tenants',
  key: 'tenant_id',
  idPrefix: 'ten',
  title: 'Tenant',
  fields: {
    external_id: string({ minLength: 1, maxLength: 256 }),
    name: string({ minLength: 1, maxLength: 256 }),
    status,
    region: nullable(string({ maxLength: 64 })),
    metadata,
  },
  writable: ['external_id', 'name', 'region', 'metadata'],
  access: secretKeyOrDashboard('member'),
  operations: { list: { query: { status: optional(status) } }, create: {}, get: {} },
})
