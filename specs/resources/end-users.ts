import { secretKeyOnly } from '../access.ts'
import { defineResource } from '../resource.ts'
import { nullable, optional, string } from '../schema.ts'
import { metadata } from '../tools.ts'

const externalId = string({ minLength: 1, maxLength: 256 })

/** Users of the whole project, whatever tenant they come by; creating one again by `external_id` changes it. */
export const endUsers = defineResource('end_users', {
  path: '/v1/end-users',
  key: 'end_user_id',
  idPrefix: 'eus',
  title: 'EndUser',
  fields: {
    external_id: externalId,
    display_name: nullable(string({ maxLength: 256 })),
    email: nullable(string({ format: 'email', maxLength: 320 })),
    metadata,
  },
  writable: ['external_id', 'display_name', 'email', 'metadata'],
  access: secretKeyOnly,
  operations: { list: { query: { external_id: optional(externalId) } }, create: {} },
})
