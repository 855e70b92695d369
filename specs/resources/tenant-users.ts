import { secretKeyOrConsole, secretKeyOrDashboard } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { defineResource } from '../dsl/resource.ts'
import { boolean, constant, defaulted, described, id, nullable, object, string } from '../dsl/schema.ts'
import { metadata } from '../tools.ts'

const resource = {
  path: '/v1/tenants/{tenant_id}/users',
  key: 'external_user_id',
  idPrefix: 'usr',
  title: 'TenantUser',
  description: 'A user of a tenant, identified by your own id.',
  fields: {
    tenant_id: string(),
    external_user_id: string({ description: 'Your own id of the user.' }),
    display_name: nullable(string({ maxLength: 256 })),
    email: nullable(string({ format: 'email', maxLength: 320 })),
    metadata,
  },
  writable: ['display_name', 'email', 'metadata'],
} as const

const open = defineResource('tenant_users', {
  ...resource,
  access: secretKeyOrDashboard('member'),
  operations: {
    get: {
      description:
        'Finds the user by your own id for it. A user that was never created is 404, even if it has sessions.',
    },
    put: {
      description:
        'Creates the user with this id in the tenant, or changes the fields that the body contains if it exists. Refused with `invalid_transition` while a deletion with `hard=true` goes on, which takes some seconds.',
      errors: ['invalid_field', 'invalid_transition'],
    },
  },
})

const secret = defineResource('tenant_users', {
  ...resource,
  access: secretKeyOrConsole,
  operations: {
    list: {},
    update: { description: 'Changes the fields that the body contains, and leaves all others as they are.' },
  },
})

const removal = defineOperations('tenant_users', {
  delete: {
    summary: 'Delete a tenant user',
    description:
      'With `hard=true`, the sessions, runs and actions of the user are deleted too, and whatever is created for it until the deletion ends. That also deletes a user who was only used, such as by its sessions.',
    method: 'DELETE',
    path: `${resource.path}/{external_user_id}`,
    access: secretKeyOrDashboard('member'),
    query: { hard: described(defaulted(boolean(), false), 'Delete everything that the user owns.') },
    answer: isJsonResponse(object({ id: id('usr'), deleted: constant(true) })),
  },
})

/** Users of a tenant, by the caller's own ids. */
export const tenantUsers = { ...open, ...secret, ...removal } as const

declare module '../index.ts' {
  interface Resources {
    readonly tenantUsers: typeof tenantUsers
  }
}
