import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { answersBytes, answersEither, answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { defineResource } from '../resource.ts'
import { array, constant, id, jsonObject, nullable, object, oneOf, optional, string, timestamp } from '../schema.ts'
import { metadata } from '../tools.ts'

const status = oneOf('active', 'suspended', 'deleting', 'deleted')
const name = string({ minLength: 1, maxLength: 256 })
const region = nullable(string({ maxLength: 64 }))
const one = '/v1/tenants/{tenant_id}'

const fields = { external_id: string({ minLength: 1, maxLength: 256 }), name, status, region, metadata }

const row = { id: id('ten'), ...fields, created_at: timestamp(), updated_at: timestamp() }

/** A customer of the caller; creating one again by `external_id` changes it (interface "Tenant"). */
const resource = defineResource('tenants', {
  path: '/v1/tenants',
  key: 'tenant_id',
  idPrefix: 'ten',
  title: 'Tenant',
  fields,
  writable: ['external_id', 'name', 'region', 'metadata'],
  access: secretKeyOrDashboard('member'),
  operations: {
    list: { query: { status: optional(status) } },
    create: { errors: ['tenant_deleting'] },
    get: {},
  },
})

const listed = array(jsonObject())

const lifecycle = defineOperations('tenants', {
  update: {
    summary: 'Change a tenant; suspend it or resume it by its status',
    method: 'PATCH',
    path: one,
    access: secretKeyOrDashboard('member'),
    body: object({
      name: optional(name),
      region: optional(region),
      metadata: optional(jsonObject()),
      status: optional(oneOf('active', 'suspended')),
    }),
    answer: answersJson(object(row, { title: 'Tenant' })),
    errors: ['tenant_deleting'],
  },
  delete: {
    summary: 'Delete a tenant and everything that it owns; goes on by itself until nothing is left',
    method: 'DELETE',
    path: one,
    access: secretKeyOrDashboard('admin'),
    answer: answersJson(object({ ...row, deleted: constant(true) }, { title: 'DeletedTenant' })),
  },
  export: {
    summary: 'Everything that is stored of a tenant; one line a thing with Accept: application/x-ndjson',
    method: 'POST',
    path: `${one}/export`,
    access: secretKeyOnly,
    answer: answersEither(
      answersJson(
        object(
          {
            tenant: object(row, { title: 'Tenant' }),
            users: listed,
            sessions: listed,
            runs: listed,
            actions: listed,
            memories: listed,
            knowledge: listed,
            usage: listed,
            exported_at: timestamp(),
          },
          { title: 'TenantExport', open: true },
        ),
      ),
      answersBytes('application/x-ndjson'),
    ),
    idempotency: 'ignored',
  },
})

/** Customers of the caller. */
export const tenants = { ...resource, ...lifecycle } as const
