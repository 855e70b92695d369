import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { array, boolean, described, nullable, object, oneOf, optional, string, timestamp } from '#specs/dsl/schema.ts'

/** Kinds of personal data that are detected (specs/decisions/0087-redaction.md). */
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
  'name',
] as const

/** Default kinds of a policy. `name` is left out: its dictionary causes many misses and false positives. */
export const defaultTypes = piiTypes.filter((type) => type !== 'name')

/** One of `piiTypes`. */
export type PiiType = (typeof piiTypes)[number]

/** Places in which personal data can be redacted. `logs` always is. */
export const redactionTargets = ['input', 'tool_arguments', 'embeddings', 'speech', 'logs'] as const

/** One of `redactionTargets`. */
export type RedactionTarget = (typeof redactionTargets)[number]

const fields = {
  enabled: described(
    boolean(),
    'Whether requests to providers are redacted. Enabled by default in new projects. Logs are always redacted.',
  ),
  types: described(
    array(oneOf(...piiTypes), { maxItems: 32 }),
    'Kinds of personal data that are replaced by placeholders in requests to providers. `name` is off by default: names of people are detected with a dictionary and the surrounding words, which misses many.',
  ),
  apply_to: described(
    array(oneOf(...redactionTargets), { maxItems: 8 }),
    '`input`: texts of messages and of documents. `tool_arguments`: arguments of tool calls. `embeddings` and `speech`: texts to embed or to speak, off by default because nothing can be restored in a vector or a sound; an answer made from such a text without redaction has the header `x-redaction: off`. `logs`: the request log, always.',
  ),
  restore: described(boolean(), 'Whether placeholders in the answer are replaced by the original values.'),
  phone_region: described(
    string({ pattern: '^[A-Z]{2}$' }),
    'Country of phone numbers without a country prefix, as an ISO 3166-1 alpha-2 code.',
  ),
}

const policy = object(
  { ...fields, updated_at: nullable(timestamp()) },
  { title: 'RedactionPolicy', description: 'Redaction of personal data in requests to providers.' },
)

/** The redaction policy of a project. Every project has one. */
export const redactionPolicy = defineOperations('redaction_policy', {
  get: {
    summary: 'Retrieve the redaction policy',
    description:
      'Returns the types of personal data that are replaced before a model call. A project that never changed it has the defaults.',
    method: 'GET',
    path: '/v1/redaction-policy',
    access: secretKeyOrDashboard('member'),
    answer: isJsonResponse(policy),
  },
  update: {
    summary: 'Update the redaction policy',
    description: 'A change takes effect on every node within a second.',
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
    answer: isJsonResponse(policy),
    errors: ['version_conflict'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly redactionPolicy: typeof redactionPolicy
  }
}
