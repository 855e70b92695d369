import { secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { cursorPage, cursorQuery } from '../dsl/lists.ts'
import { array, described, id, nullable, object, optional, string, timestamp } from '../dsl/schema.ts'

const word = string({ minLength: 1, maxLength: 128 })

const line = object(
  {
    id: id('aud'),
    action: string({ description: 'Operation, such as `tenant.updated`.' }),
    actor: object(
      {
        kind: string({ description: 'Kind of the credential.' }),
        id: nullable(string({ description: 'Key or member; a hash of an end user.' })),
        ip: nullable(string({ description: 'Address of the caller; null for an end user.' })),
      },
      { description: 'Credential that made the change.' },
    ),
    resource: object(
      { type: string(), id: string(), name: nullable(string({ description: 'Tool of an action; null otherwise.' })) },
      { description: 'Resource that was changed.' },
    ),
    tenant_id: nullable(string({ description: 'Tenant of the resource.' })),
    changes: described(array(string()), 'Names of the changed fields, without their values.'),
    reason: nullable(string({ description: 'What the person who acted gave as the reason.' })),
    created_at: timestamp(),
  },
  { title: 'AuditLine', description: 'A change of a resource.' },
)

/** Changes of resources. Lines are immutable, and outlive their tenant. */
export const audit = defineOperations('audit_log', {
  list: {
    summary: 'List the lines of the audit log',
    description: 'Newest first. A line is written with the change it describes, and is never changed.',
    method: 'GET',
    path: '/v1/audit-log',
    access: secretKeyOrDashboard('admin'),
    query: {
      ...cursorQuery,
      tenant_id: optional(word),
      action: optional(word),
      actor_id: optional(word),
      resource_type: optional(word),
      resource_id: optional(word),
    },
    answer: answersJson(cursorPage(line)),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly audit: typeof audit
  }
}
