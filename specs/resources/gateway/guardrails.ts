import { secretKeyOrDashboard } from '#specs/access.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import {
  array,
  boolean,
  constant,
  defaulted,
  described,
  type Infer,
  integer,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  union,
} from '#specs/dsl/schema.ts'
import { piiTypes } from './redaction.ts'

/** What happens to a text in which a check found something. */
const guardActions = ['block', 'redact', 'flag'] as const

const both = described(
  defaulted(oneOf('input', 'output', 'both'), 'both'),
  '`input`: texts of users and results of tools, before the call. `output`: what the model wrote, before the caller gets it.',
)
const anyAction = described(
  defaulted(oneOf(...guardActions), 'block'),
  '`block`: the call is refused with `content_policy_violation`, or its answer ends with `content_filter`. `redact`: what was found is replaced. `flag`: the call goes on; the finding is in the header `x-guardrails` and in the request log.',
)
const hardAction = described(defaulted(oneOf('block', 'flag'), 'block'), '`block` or `flag`, as for the other checks.')
const onError = described(
  defaulted(oneOf('block', 'allow'), 'block'),
  'What happens when the check itself fails or takes too long.',
)
const text = (maxLength: number) => string({ minLength: 1, maxLength })

/** The checks that a guardrail may consist of. */
const checks = [
  object(
    {
      type: constant('words'),
      words: described(
        array(text(128), { minItems: 1, maxItems: 2000 }),
        'Words and phrases. Case, accents, full-width forms and invisible characters make no difference; a word is not found within another one.',
      ),
      on: both,
      action: anyAction,
    },
    { title: 'WordsCheck', description: 'A list of words.' },
  ),
  object(
    {
      type: constant('regex'),
      patterns: described(
        array(text(512), { minItems: 1, maxItems: 32 }),
        'Regular expressions of RE2, which has neither lookaround nor backreferences and takes linear time. `(?i)` ignores case. In a stream a match of up to 256 characters is found before any of it is sent.',
      ),
      on: both,
      action: anyAction,
    },
    { title: 'RegexCheck', description: 'Regular expressions.' },
  ),
  object(
    {
      type: constant('pii'),
      types: described(array(oneOf(...piiTypes), { minItems: 1, maxItems: 32 }), 'Kinds of personal data.'),
      phone_region: defaulted(
        string({ pattern: '^[A-Z]{2}$', description: 'Country of phone numbers without a country prefix.' }),
        'US',
      ),
      on: both,
      action: anyAction,
    },
    {
      title: 'PiiCheck',
      description:
        'Personal data. In answers it is searched after the redaction policy has restored the values of the request.',
    },
  ),
  object(
    {
      type: constant('injection'),
      on: described(defaulted(constant('input'), 'input'), 'Only inputs are checked.'),
      action: hardAction,
    },
    { title: 'InjectionCheck', description: 'Instructions to the model in texts of users and results of tools.' },
  ),
  object(
    {
      type: constant('json_schema'),
      schema: described(jsonObject(), 'JSON Schema (2020-12) of at most 32 KB that the answer has to match.'),
      repair: described(
        defaulted(boolean(), false),
        'Whether the model is called once more with what is wrong with its answer. That call is charged like any other.',
      ),
      on: described(defaulted(constant('output'), 'output'), 'Only answers are checked.'),
      action: hardAction,
    },
    { title: 'JsonSchemaCheck', description: 'The structure of answers. An answer that calls tools is not checked.' },
  ),
  object(
    {
      type: constant('model'),
      model: text(256),
      instructions: described(
        string({ minLength: 1, maxLength: 10_000 }),
        'What the model decides. It gets the text, and answers with `{"violates": true}` or `{"violates": false}`.',
      ),
      timeout_ms: defaulted(integer({ min: 100, max: 60_000 }), 10_000),
      on: both,
      action: hardAction,
      on_error: onError,
    },
    {
      title: 'ModelCheck',
      description: 'The judgment of a model. Its calls are routed, limited and charged like those of the caller.',
    },
  ),
  object(
    {
      type: constant('http'),
      url: described(
        text(2048),
        'Receives `POST` with `{ on, texts }`, signed with the signing secret of the project, and answers with `{ "flagged": boolean }` and, to redact, `texts` of the same number. Redirects are not followed.',
      ),
      timeout_ms: defaulted(integer({ min: 100, max: 30_000 }), 5_000),
      on: both,
      action: anyAction,
      on_error: onError,
    },
    { title: 'HttpCheck', description: 'The judgment of a server of the project.' },
  ),
] as const

/** One check of a guardrail. */
export type GuardCheck = Infer<(typeof checks)[number]>

/** Checks of what goes into models and comes out of them. */
export const guardrails = defineResource('guardrails', {
  path: '/v1/guardrails',
  key: 'guardrail_id',
  idPrefix: 'grl',
  title: 'Guardrail',
  description:
    'Checks of the texts that go into models and of those that come out of them. A change takes effect on every node within a second.',
  fields: {
    name: string({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      description: 'Unique within the project. Calls and agents may name it instead of the id.',
    }),
    description: nullable(string({ maxLength: 4096 })),
    is_default: described(
      defaulted(boolean(), false),
      'Whether it applies to every call of the project. Others apply to agents that name them (`config.guardrails`), to keys that do (`scopes.guardrails`), and to calls of servers that name them in the header `X-Guardrails`, separated by commas. No call can switch one off.',
    ),
    checks: described(
      array(union(checks, 'type'), { minItems: 1, maxItems: 16 }),
      'Each is made; the first that blocks ends the call.',
    ),
  },
  writable: ['name', 'description', 'is_default', 'checks'],
  access: secretKeyOrDashboard('member'),
  operations: {
    list: { description: 'All guardrails of the project with their checks, newest first.' },
    get: { description: 'Returns the checks, each with its type, its action and where it is made.' },
    create: {
      access: secretKeyOrDashboard('admin'),
      description: 'Patterns and schemas that cannot be used are refused.',
      errors: ['already_exists'],
    },
    update: {
      access: secretKeyOrDashboard('admin'),
      description: '`checks` replaces all checks.',
      errors: ['already_exists'],
    },
    delete: { access: secretKeyOrDashboard('admin'), description: 'Agents that name it do not run any more.' },
  },
})

/** Names or ids of guardrails. */
export const guardrailNames = optional(array(string({ minLength: 1, maxLength: 128 }), { maxItems: 16 }))

declare module '#specs/index.ts' {
  interface Resources {
    readonly guardrails: typeof guardrails
  }
}
