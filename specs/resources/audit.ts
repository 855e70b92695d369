import { secretKeyOrDashboard } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
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
        id: nullable(string({ description: 'Id of the key or member; for an end user, a hash.' })),
        ip: nullable(string({ description: 'IP address of the caller; null for an end user.' })),
      },
      { description: 'Credential that made the change.' },
    ),
    resource: object(
      {
        type: string(),
        id: string(),
        name: nullable(string({ description: 'Name of the tool, for an action; otherwise null.' })),
      },
      { description: 'Resource that was changed.' },
    ),
    tenant_id: nullable(string({ description: 'Tenant of the resource.' })),
    changes: described(array(string()), 'Names of the changed fields, without their values.'),
    reason: nullable(string({ description: 'Reason given by the person who made the change.' })),
    created_at: timestamp(),
  },
  { title: 'AuditLine', description: 'A change to a resource.' },
)

/** Audit log of changes to resources. Entries are immutable, and stay after their tenant is deleted. */
export const audit = defineOperations('audit_log', {
  list: {
    summary: 'List the entries of the audit log',
    description: 'Newest first. An entry is written together with the change that it describes, and is never modified.',
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
    answer: isJsonResponse(cursorPage(line)),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly audit: typeof audit
  }
}
