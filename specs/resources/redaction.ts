import { secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { array, boolean, described, nullable, object, oneOf, optional, string, timestamp } from '../schema.ts'

/** What is recognised. Names of people are not: no list and no rule finds them, and a model that does is not at hand offline. */
export const piiTypes = [
  'email',
  'phone',
  'payment_card',
  'iban',
  'us_ssn',
  'national_id',
  'ip_address',
  'url_credentials',
  'secret',
] as const

/** One of `piiTypes`. */
export type PiiType = (typeof piiTypes)[number]

/** Where personal data is taken out. `logs` is always among them. */
export const redactionTargets = ['input', 'tool_arguments', 'logs'] as const

/** One of `redactionTargets`. */
export type RedactionTarget = (typeof redactionTargets)[number]

const fields = {
  enabled: described(
    boolean(),
    'Whether anything is taken out on the way to providers. Logs are redacted in any case.',
  ),
  types: described(array(oneOf(...piiTypes), { maxItems: 32 }), 'What is taken out on the way to providers.'),
  apply_to: described(
    array(oneOf(...redactionTargets), { maxItems: 8 }),
    '`input`: texts of messages. `tool_arguments`: arguments of the tool calls among them. `logs`: always.',
  ),
  restore: described(boolean(), "Whether the provider's answer gets back what its placeholders stand for."),
  phone_region: described(
    string({ pattern: '^[A-Z]{2}$' }),
    'Country whose national phone numbers are recognised without a prefix, ISO 3166.',
  ),
}

const policy = object({ ...fields, updated_at: nullable(timestamp()) }, { title: 'RedactionPolicy' })

/** What a project wants to be done with personal data in what it sends to models. One a project; it is always there. */
export const redactionPolicy = defineOperations('redaction_policy', {
  get: {
    summary: 'Read: RedactionPolicy',
    method: 'GET',
    path: '/v1/redaction-policy',
    access: secretKeyOrDashboard('member'),
    answer: answersJson(policy),
  },
  update: {
    summary: 'Change: RedactionPolicy',
    method: 'PATCH',
    path: '/v1/redaction-policy',
    access: secretKeyOrDashboard('admin'),
    body: object({
      enabled: optional(fields.enabled),
      types: optional(fields.types),
      apply_to: optional(fields.apply_to),
      restore: optional(fields.restore),
      phone_region: optional(fields.phone_region),
    }),
    answer: answersJson(policy),
    errors: ['version_conflict'],
  },
})
