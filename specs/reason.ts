import { optional, string } from './dsl/schema.ts'

/** Reason of a person's action, which the audit log shows. */
export const reason = optional(string({ maxLength: 4096, description: 'Reason for the audit log.' }))
