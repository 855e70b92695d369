import { optional, string } from './dsl/schema.ts'

/** Why a person acts: the line of the audit log shows it. */
export const reason = optional(string({ maxLength: 4096, description: 'Reason for the audit log.' }))
