import { secretKeyOrConsole, secretKeyOrDashboard } from '../access.ts'
import { agentConfig } from '../agent-config.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { defineResource } from '../dsl/resource.ts'
import { semverPattern } from '../dsl/rule-words.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  integer,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '../dsl/schema.ts'
import { statuses } from '../statuses.ts'

const path = '/v1/agents/{agent_id}/versions'

const status = oneOf(...statuses.agent_version)

/** Visibility of a published version in the catalogue. A list without a filter omits `private` versions. */
export const visibility = described(oneOf('private', 'unlisted', 'public'), 'Visibility in the agent catalogue.')

const error = nullable(object({ code: string(), message: string() }))

const usage = object({
  input_tokens: integer(),
  output_tokens: integer(),
  total_tokens: integer(),
  cost_usd: nullable(string()),
})

/** Result of a draft's latest test. `output` is truncated to 2000 characters. */
const testEvidence = object(
  {
    passed: boolean(),
    input: string(),
    output: string(),
    tool_calls: described(
      array(object({ tool: string(), arguments: string() })),
      'Tool calls that the model made. A test executes none of them.',
    ),
    model: string(),
    usage: nullable(usage),
    error,
    tested_by: string(),
    tested_at: timestamp(),
  },
  { title: 'AgentVersionTest', description: "Result of a draft's latest test." },
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
    param: string({ description: 'Field of the version.' }),
    message: string(),
  },
  { title: 'ManifestFinding', description: 'A problem of a version.' },
)

/** A version of an agent, from draft to retirement. Its config never changes. */
const versions = defineResource('agent_versions', {
  path,
  key: 'version',
  idPrefix: 'agv',
  title: 'AgentVersion',
  description: 'A version of an agent, from draft to retirement. Its config never changes.',
  fields: {
    agent_id: string(),
    version: string({ maxLength: 128, pattern: semverPattern, description: 'Semantic version, such as `1.2.0`.' }),
    status,
    config: agentConfig,
    requirements: described(
      defaulted(jsonObject(), {}),
      'Prerequisites of an installation. `connectors`, `mcp_servers`, `skills`, `knowledge` and `knowledge_bases` are checked: a missing one is reported by `agent_versions.validate` and refused with `prerequisites_missing`. Other fields are stored for your own use.',
    ),
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
    create: {
      summary: 'Create an agent version',
      description: 'The new version is a draft. A version number cannot be reused.',
      errors: ['already_exists', 'not_found'],
    },
    get: {
      access: secretKeyOrConsole,
      description: 'Returns the version with its config, the result of its test and its review.',
    },
  },
  machine: 'agent_version',
  transitions: {
    test: {
      summary: 'Test a draft',
      description:
        'Calls the model once with `input` and a small token limit. Tools are not executed. The result is stored in `test`.',
      event: 'tested',
      access: secretKeyOrConsole,
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
    submit: {
      summary: 'Submit a draft for review',
      description: 'A draft with errors is refused. The message names the location of each error.',
      event: 'submit',
      errors: ['invalid_transition', 'prerequisites_missing'],
    },
    review: {
      summary: 'Review a submitted version',
      description: '`approve` publishes the version. `reject` returns it to draft.',
      event: 'review',
      body: object({ decision: oneOf('approve', 'reject'), reason: optional(string({ maxLength: 4096 })) }),
      errors: ['invalid_transition', 'prerequisites_missing'],
    },
    publish: {
      summary: 'Publish a version without a review',
      description: 'A version with errors is refused. The message names the location of each error.',
      event: 'publish',
      errors: ['invalid_transition', 'prerequisites_missing'],
    },
    deprecate: {
      summary: 'Deprecate a published version',
      description: 'The version can no longer be installed. Existing installations keep working.',
      event: 'deprecate',
      access: secretKeyOrConsole,
      errors: ['invalid_transition'],
    },
    retire: {
      summary: 'Retire a version',
      description: 'The version can no longer be installed, and no new session or run can start with it.',
      event: 'retire',
      errors: ['invalid_transition'],
    },
  },
})

const validation = defineOperations('agent_versions', {
  validate: {
    summary: 'Validate a version',
    description: 'Returns every problem of the version without changing it.',
    method: 'POST',
    path: `${path}/{version}/validate`,
    access: secretKeyOrConsole,
    answer: isJsonResponse(object({ valid: boolean(), findings: array(finding) }, { title: 'Validation' })),
    idempotency: 'ignored',
  },
})

/** Versions of agents. */
export const agentVersions = { ...versions, ...validation } as const

declare module '../index.ts' {
  interface Resources {
    readonly agentVersions: typeof agentVersions
  }
}
