import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { answersBytes, answersEither, isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { defineResource } from '../dsl/resource.ts'
import {
  array,
  boolean,
  constant,
  defaulted,
  described,
  id,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '../dsl/schema.ts'
import { freeFields, metadata } from '../tools.ts'

const status = oneOf('active', 'suspended', 'deleting', 'deleted')
const name = string({ minLength: 1, maxLength: 256 })
const region = nullable(string({ maxLength: 64 }))
const one = '/v1/tenants/{tenant_id}'

const fields = {
  external_id: string({ minLength: 1, maxLength: 256, description: 'Your own id of the tenant.' }),
  name,
  status,
  region,
  metadata,
}

const description = 'One of your customers. Its users, sessions and usage are kept apart from those of other tenants.'

const row = {
  id: id('ten'),
  ...fields,
  created_at: described(timestamp(), 'Time at which the resource was created.'),
  updated_at: described(timestamp(), 'Time at which the resource was last updated.'),
}

/** Tenants, the customers of the caller. Creating one with a known `external_id` updates it. */
const resource = defineResource('tenants', {
  path: '/v1/tenants',
  key: 'tenant_id',
  idPrefix: 'ten',
  title: 'Tenant',
  description,
  fields,
  writable: ['external_id', 'name', 'region', 'metadata'],
  access: secretKeyOrDashboard('member'),
  operations: {
    list: { query: { status: optional(status), external_id: optional(fields.external_id) } },
    create: {
      summary: 'Create or update a tenant',
      description: 'Updates the tenant if one with this `external_id` exists; otherwise creates it.',
      errors: ['tenant_deleting'],
    },
    get: {
      description:
        '`status` shows whether the tenant is suspended or being deleted; new work for such a tenant is refused.',
    },
  },
})

const listed = array(jsonObject())

const lifecycle = defineOperations('tenants', {
  update: {
    summary: 'Update a tenant',
    description:
      'While `status` is `suspended`, the tenant can only be read, exported and deleted, and what it has be read, cancelled, rejected and deleted. `active` lifts the suspension.',
    method: 'PATCH',
    path: one,
    access: secretKeyOrDashboard('member'),
    body: object({
      name: optional(name),
      region: optional(region),
      metadata: optional(freeFields),
      status: optional(oneOf('active', 'suspended')),
    }),
    answer: isJsonResponse(object(row, { title: 'Tenant', description })),
    errors: ['tenant_deleting'],
  },
  delete: {
    summary: 'Delete a tenant',
    description:
      'Deletes everything that the tenant owns, in the background. `status` is `deleting` until nothing is left.',
    method: 'DELETE',
    path: one,
    access: secretKeyOrDashboard('admin'),
    answer: isJsonResponse(
      object(
        { ...row, deleted: constant(true) },
        { title: 'DeletedTenant', description: 'A tenant that is being deleted.' },
      ),
    ),
  },
  export: {
    summary: 'Export a tenant',
    description:
      'Returns everything that is stored for the tenant; the images of a session are in its `images`, in base64. For large tenants, send `Accept: application/x-ndjson` to get one JSON document per line. Secrets in arguments and outputs of tool calls are masked, as in every other view, unless `include_secrets` is true; the audit log records which of the two was exported.',
    method: 'POST',
    path: `${one}/export`,
    access: secretKeyOnly,
    query: {
      include_secrets: described(
        defaulted(boolean(), false),
        'Whether arguments and outputs of tool calls are complete instead of masked.',
      ),
    },
    answer: answersEither(
      isJsonResponse(
        object(
          {
            tenant: object(row, { title: 'Tenant', description }),
            users: listed,
            sessions: listed,
            runs: listed,
            actions: listed,
            memories: listed,
            knowledge: listed,
            usage: listed,
            exported_at: timestamp(),
          },
          { title: 'TenantExport', description: 'Everything that is stored for a tenant.', open: true },
        ),
      ),
      answersBytes('application/x-ndjson'),
    ),
    idempotency: 'ignored',
  },
})

/** Tenants of a project. */
export const tenants = { ...resource, ...lifecycle } as const

declare module '../index.ts' {
  interface Resources {
    readonly tenants: typeof tenants
  }
}
