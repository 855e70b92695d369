import { secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { cursorPage, cursorQuery } from '../lists.ts'
import { array, id, nullable, object, optional, string, timestamp } from '../schema.ts'

const word = string({ minLength: 1, maxLength: 128 })

const line = object(
  {
    id: id('aud'),
    /** `<resource>.<past participle>`, such as `tenant.updated`. */
    action: string(),
    /** Kind of credential, the key or member behind it, and the address it came from; an end user is named by a hash, without an address. */
    actor: object({ kind: string(), id: nullable(string()), ip: nullable(string()) }),
    /** `name`: what the id alone does not say, which is the tool of an action. */
    resource: object({ type: string(), id: string(), name: nullable(string()) }),
    tenant_id: nullable(string()),
    /** Names of the fields that changed; never their values. */
    changes: array(string()),
    created_at: timestamp(),
  },
  { title: 'AuditLine' },
)

/** Who changed what and when. Lines are never changed, and stay when their tenant is deleted. */
export const audit = defineOperations('audit_log', {
  list: {
    summary: 'List who changed what, newest first',
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
