import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { agentConfig } from '../agent-config.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { defineResource } from '../resource.ts'
import { semverPattern } from '../rule-words.ts'
import {
  array,
  boolean,
  defaulted,
  integer,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '../schema.ts'

const path = '/v1/agents/{agent_id}/versions'

const status = oneOf('draft', 'in_review', 'published', 'deprecated', 'retired')

/** Who may find a published version in the catalogue; `unlisted` is left out only where `public` is asked for. */
export const visibility = oneOf('private', 'unlisted', 'public')

const error = nullable(object({ code: string(), message: string() }))

const usage = object({
  input_tokens: integer(),
  output_tokens: integer(),
  total_tokens: integer(),
  cost_usd: nullable(string()),
})

/** What the newest test of a draft showed. `output` is cut at 2000 characters. */
const testEvidence = object(
  {
    passed: boolean(),
    input: string(),
    output: string(),
    /** What the model would have called; nothing was. */
    tool_calls: array(object({ tool: string(), arguments: string() })),
    model: string(),
    usage: nullable(usage),
    error,
    tested_by: string(),
    tested_at: timestamp(),
  },
  { title: 'AgentVersionTest' },
)

const review = object({
  decision: oneOf('approve', 'reject'),
  reason: nullable(string()),
  by: string(),
  at: timestamp(),
})

const finding = object(
  {
    severity: oneOf('error', 'warning'),
    code: string(),
    /** The field of the manifest. */
    param: string(),
    message: string(),
  },
  { title: 'ManifestFinding' },
)

/** One numbered version of an agent; its manifest never changes (interface "Agent version"). */
const versions = defineResource('agent_versions', {
  path,
  key: 'version',
  idPrefix: 'agv',
  title: 'AgentVersion',
  fields: {
    agent_id: string(),
    version: string({ maxLength: 128, pattern: semverPattern }),
    status,
    config: agentConfig,
    requirements: defaulted(jsonObject(), {}),
    visibility: defaulted(visibility, 'private'),
    test: nullable(testEvidence),
    review: nullable(review),
    created_by: string(),
    submitted_at: nullable(timestamp()),
    published_at: nullable(timestamp()),
    deprecated_at: nullable(timestamp()),
    retired_at: nullable(timestamp()),
  },
  writable: ['version', 'config', 'requirements', 'visibility'],
  access: secretKeyOrDashboard('member'),
  operations: {
    list: { query: { status: optional(status) } },
    create: { summary: 'Create a draft version', errors: ['already_exists', 'not_found'] },
    get: { access: secretKeyOnly },
  },
  machine: 'agent_version',
  transitions: {
    test: {
      summary: 'Try a draft: only the model runs, token-capped; the evidence stays with the draft',
      event: 'tested',
      access: secretKeyOnly,
      body: object({
        input: string({ minLength: 1, maxLength: 2000 }),
        test_connection_ids: optional(array(string({ minLength: 1, maxLength: 128 }), { maxItems: 100 })),
      }),
      errors: [
        'invalid_transition',
        'prerequisites_missing',
        'rate_limit_exceeded',
        'budget_exceeded',
        'price_unknown',
        'credit_balance_exhausted',
      ],
    },
    submit: { summary: 'Hand a draft in for review', event: 'submit', errors: ['invalid_transition'] },
    review: {
      summary: 'Decide about a version in review: approve publishes it, reject makes it a draft again',
      event: 'review',
      body: object({ decision: oneOf('approve', 'reject'), reason: optional(string({ maxLength: 4096 })) }),
      errors: ['invalid_transition'],
    },
    publish: { summary: 'Publish without a review', event: 'publish', errors: ['invalid_transition'] },
    deprecate: {
      summary: 'Take no new installations; those that have it go on',
      event: 'deprecate',
      access: secretKeyOnly,
      errors: ['invalid_transition'],
    },
    retire: { summary: 'Let nothing run it any more', event: 'retire', errors: ['invalid_transition'] },
  },
})

const validation = defineOperations('agent_versions', {
  validate: {
    summary: 'Examine a version; changes nothing',
    method: 'POST',
    path: `${path}/{version}/validate`,
    access: secretKeyOnly,
    answer: answersJson(object({ valid: boolean(), findings: array(finding) }, { title: 'Validation' })),
    idempotency: 'ignored',
  },
})

/** Versions of agents (interface "Agent version"). */
export const agentVersions = { ...versions, ...validation } as const
