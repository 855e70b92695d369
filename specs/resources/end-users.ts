import { secretKeyOrConsole } from '../access.ts'
import { defineResource } from '../dsl/resource.ts'
import { described, nullable, optional, string } from '../dsl/schema.ts'
import { metadata } from '../tools.ts'

const externalId = string({ minLength: 1, maxLength: 256 })

const resource = {
  path: '/v1/end-users',
  key: 'end_user_id',
  idPrefix: 'eus',
  title: 'EndUser',
  description: 'An end user of the project, independent of tenants.',
  fields: {
    external_id: described(externalId, 'Your own id of the user.'),
    display_name: nullable(string({ maxLength: 256 })),
    email: nullable(string({ format: 'email', maxLength: 320 })),
    metadata,
  },
  access: secretKeyOrConsole,
} as const

const collection = defineResource('end_users', {
  ...resource,
  writable: ['external_id', 'display_name', 'email', 'metadata'],
  operations: {
    list: { query: { external_id: optional(externalId) } },
    create: {
      summary: 'Create or update an end user',
      description: 'Updates the end user if one with this `external_id` exists; otherwise creates it.',
    },
  },
})

const one = defineResource('end_users', {
  ...resource,
  writable: ['display_name', 'email', 'metadata'],
  operations: {
    get: { description: 'Finds the end user by its id. To find it by your own id, list with `external_id`.' },
    update: { description: 'Changes the fields that the body contains. The `external_id` stays as it is.' },
    delete: { description: 'Grants of knowledge bases to the user have no effect any more.' },
  },
})

/** Users of a project, independent of its tenants. Creating one with a known `external_id` updates it. */
export const endUsers = { ...collection, ...one } as const

declare module '../index.ts' {
  interface Resources {
    readonly endUsers: typeof endUsers
  }
}
