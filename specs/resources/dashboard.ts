import { dashboardOnly, publicAccess, roles } from '../access.ts'
import { answersJsonWithHeaders, isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { defineResource } from '../dsl/resource.ts'
import {
  array,
  boolean,
  constant,
  defaulted,
  described,
  id,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  record,
  string,
  timestamp,
} from '../dsl/schema.ts'
import { keyScopes } from '../reach/key-scopes.ts'

const role = oneOf(...roles)
const name = string({ minLength: 1, maxLength: 256 })
const email = string({ format: 'email', maxLength: 320 })
const newPassword = string({ minLength: 12, maxLength: 1024 })
const origin = string({ maxLength: 256, pattern: '^(\\*|https?://[^/\\s]+)$' })

const returnUrl = string({ minLength: 1, maxLength: 2048, pattern: '^https?://[^\\s@]+$' })

const identity = object(
  {
    member: object({ id: id('usr'), email: string(), name: nullable(string()), role }),
    organization: object({ id: id('org'), name: string() }),
  },
  { title: 'Identity', description: 'The signed-in member and its organisation.' },
)

/** Dashboard sessions, which use a cookie. */
export const auth = defineOperations('auth', {
  login: {
    summary: 'Sign in',
    description:
      'Sets the session cookie. A member with a second factor receives `second_factor_required`, and repeats the request with a `code`. Ten wrong codes in 15 minutes block all codes of the member until then.',
    method: 'POST',
    path: '/api/auth/login',
    // unauthenticated, so limited to a size that needs no reservation of memory
    // (specs/decisions/0225-room-for-long-bodies.md)
    maxBodyBytes: 12 * 1024,
    access: publicAccess,
    body: object({
      email: string({ minLength: 1, maxLength: 320 }),
      password: string({ minLength: 1, maxLength: 1024 }),
      code: optional(
        string({ minLength: 1, maxLength: 64, description: 'A code of the authenticator, or a recovery code.' }),
      ),
    }),
    answer: answersJsonWithHeaders(identity),
    errors: [
      'invalid_credentials',
      'second_factor_required',
      'oidc_sign_in_required',
      'rate_limit_exceeded',
      'csrf_refused',
    ],
    idempotency: 'ignored',
  },
  logout: {
    summary: 'Sign out',
    description: 'Ends the dashboard session immediately.',
    method: 'POST',
    path: '/api/auth/logout',
    access: { ...dashboardOnly('member'), changes: 'member', beforeSecondFactor: true },
    answer: answersJsonWithHeaders(object({ success: constant(true) })),
    idempotency: 'ignored',
  },
  end_other_sessions: {
    summary: 'Sign out everywhere else',
    description: 'Ends every other dashboard session of the signed-in member.',
    method: 'POST',
    path: '/api/auth/sessions/end-others',
    access: { ...dashboardOnly('member'), changes: 'member' },
    answer: isJsonResponse(object({ ended: integer({ description: 'Number of sessions that were ended.' }) })),
    idempotency: 'ignored',
  },
  change_password: {
    summary: 'Change the password of the signed-in member',
    description: 'Ends every other dashboard session of the member.',
    method: 'POST',
    path: '/api/auth/password',
    access: { ...dashboardOnly('member'), changes: 'member' },
    body: object({ password: string({ minLength: 1, maxLength: 1024 }), new_password: newPassword }),
    answer: isJsonResponse(object({ success: constant(true) })),
    errors: ['invalid_credentials', 'rate_limit_exceeded'],
    idempotency: 'ignored',
  },
  me: {
    summary: 'Retrieve the signed-in member',
    description: 'Returns the member whose dashboard session the request carries, with the organization and the role.',
    method: 'GET',
    path: '/api/auth/me',
    access: { ...dashboardOnly('member'), beforeSecondFactor: true },
    answer: isJsonResponse(identity),
  },
})

const cap = (description: string) => optional(nullable(integer({ min: 0, max: 1_000_000_000, description })))

const projectMemory = object(
  {
    plan: optional(nullable(oneOf('free', 'pro', 'team'))),
    stored_limit: cap('Maximum number of memories that the project stores.'),
    searches_per_month: cap('Maximum number of searches of the project per calendar month.'),
    writes_per_month: cap('Maximum number of writes of the project per calendar month.'),
    searches_per_user_day: cap('Maximum number of searches per user and day.'),
    writes_per_user_day: cap('Maximum number of writes per user and day.'),
    user_retention_days: cap('Days for which memories with scope `user` are kept.'),
    session_retention_days: cap('Days for which memories with scope `session` are kept.'),
    embedder: optional(
      nullable(
        string({
          minLength: 1,
          maxLength: 256,
          description:
            'Embedder of memories and of knowledge bases: `local`, `none`, or a model of `embeddings.create`. Changing it recomputes all embeddings.',
        }),
      ),
    ),
  },
  { title: 'ProjectMemory', description: 'Caps, retention and embedder of the memory of users.' },
)

const projectKnowledge = object(
  {
    vision_model: optional(
      nullable(
        string({
          minLength: 1,
          maxLength: 256,
          description:
            'Model of `vision.ocr` that reads the text of images and of scanned PDF files, one call for each page. Null: they fail with `vision_model_required` or `no_text`.',
        }),
      ),
    ),
  },
  { title: 'ProjectKnowledge', description: 'Settings of knowledge bases.' },
)

const projectDeletion = object(
  {
    started_at: timestamp(),
    rounds: integer({ description: 'Number of completed deletion rounds.' }),
    left: described(record(integer()), 'Number of items that remained after the latest round, by kind.'),
  },
  { title: 'ProjectDeletion' },
)

/** Projects of the signed-in member's organisation. */
export const projects = defineResource('projects', {
  path: '/api/projects',
  key: 'project_id',
  idPrefix: 'prj',
  title: 'Project',
  description: 'A project: its keys, agents, sessions and usage are kept apart from those of other projects.',
  fields: {
    name,
    allowed_origins: described(
      defaulted(array(origin, { maxItems: 100 }), []),
      'Browser origins that may use client tokens. `*` allows any origin, as the first project of an installation does; with an empty list, pages of no origin may read answers.',
    ),
    return_urls: described(
      defaulted(array(returnUrl, { maxItems: 100 }), []),
      'URLs to which sign-ins of connections may redirect (`connections.authorize`). A URL that ends with a slash allows every page below it. If empty, any `https` URL is allowed.',
    ),
    remote_servers: described(
      defaulted(oneOf('any', 'registered'), 'any'),
      'Remote tool servers that turns and responses may use. `registered` forbids servers that are given only by their URL.',
    ),
    skill_review_model: described(
      defaulted(nullable(string({ minLength: 1, maxLength: 256 })), null),
      'Model that reads drafted and imported skills for what they mean, at the cost of the project; its findings are added to those of the scan. Null: none, and each skill has the finding `not_reviewed_for_meaning`.',
    ),
    memory: described(
      defaulted(projectMemory, {}),
      'Quotas, retention and embedder of user memory. Values that are set override those of the plan; null removes a quota.',
    ),
    knowledge: described(defaulted(projectKnowledge, {}), 'Model that reads scans of knowledge bases.'),
    status: described(oneOf('active', 'deleting'), '`deleting`: its keys are refused, and its data is being deleted.'),
    deletion: described(
      nullable(projectDeletion),
      'Progress of the deletion; null if the project is not being deleted.',
    ),
  },
  writable: ['name', 'allowed_origins', 'knowledge', 'memory', 'return_urls', 'remote_servers', 'skill_review_model'],
  transitions: {
    delete: {
      summary: 'Delete a project',
      description:
        'Permanently deletes the project and everything in it: sessions, runs, agents, tenants, memories, knowledge, keys, usage and its audit log. Its keys and tokens are refused immediately, members can only read what is left, and `deletion` reports the progress. When the deletion is complete, the project is answered with 404. The last project of an organisation cannot be deleted.',
      access: dashboardOnly('owner'),
      body: object({
        name: string({ minLength: 1, maxLength: 128, description: 'Name of the project, as confirmation.' }),
      }),
      status: 202,
      errors: ['last_project'],
    },
  },
  access: dashboardOnly('member'),
  operations: {
    list: {},
    create: {
      description:
        'Creates an empty project in the organization of the member. It has no secret key yet; create one with `project_keys.create`.',
      access: dashboardOnly('admin'),
    },
    get: {
      description: 'Returns the settings of the project, and the progress of its deletion while it is being deleted.',
    },
    update: {
      access: dashboardOnly('admin'),
      description:
        'Renames the project, or replaces the settings that the body contains. Takes effect on every node within a second.',
    },
  },
})

const shownKey = { key: string({ description: 'The key, shown once.' }) }

/** Secret keys of a project. The key is shown once. */
export const projectKeys = defineResource('project_keys', {
  path: '/api/projects/{project_id}/keys',
  key: 'key_id',
  idPrefix: 'key',
  title: 'ProjectKey',
  description: 'A secret key of a project.',
  fields: {
    name,
    prefix: string({ description: 'First characters of the key.' }),
    last4: string({ description: 'Last four characters of the key.' }),
    created_by: nullable(string({ description: 'Member that created the key.' })),
    scopes: keyScopes,
    expires_at: nullable(timestamp()),
    last_used_at: nullable(timestamp()),
    revoked_at: nullable(timestamp()),
  },
  writable: ['name', 'scopes', 'expires_at'],
  access: dashboardOnly('admin'),
  operations: {
    list: { access: dashboardOnly('member') },
    create: { description: '`key` is returned only in this response.', shows: shownKey },
    delete: { summary: 'Revoke a project key', description: 'The key is refused immediately.', answersRow: true },
  },
  transitions: {
    rotate: {
      summary: 'Rotate a project key',
      description: 'Returns a new key with the same scopes. The old key keeps working for `grace_s` seconds.',
      body: object({
        grace_s: described(
          defaulted(integer({ min: 0, max: 2_592_000 }), 86_400),
          'Seconds for which the old key keeps working.',
        ),
      }),
      status: 201,
      shows: shownKey,
      errors: ['invalid_transition'],
    },
  },
})

/** Members of a project, who may sign in to its dashboard. */
export const projectMembers = defineResource('project_members', {
  path: '/api/projects/{project_id}/members',
  key: 'member_id',
  idPrefix: 'usr',
  title: 'Member',
  description: 'A person who can sign in to the dashboard.',
  fields: {
    email,
    name: nullable(name),
    role: defaulted(role, 'member'),
    has_second_factor: described(boolean(), 'Whether the password needs a second factor.'),
    has_oidc: described(boolean(), 'Whether the member is linked to an account at a provider.'),
  },
  writable: ['email', 'name', 'role'],
  writeOnly: { password: newPassword },
  access: dashboardOnly('owner'),
  operations: {
    list: { access: dashboardOnly('member') },
    create: {
      description:
        'Adds a member to the organization, who can sign in at once and open all its projects. An email address can belong to one member only.',
      errors: ['already_exists'],
    },
    update: {
      errors: ['already_exists', 'invalid_transition'],
      description:
        'A new role takes effect on every node within a second. A new password ends every dashboard session of the member. The role of the last owner cannot be changed.',
    },
    delete: {
      description: 'The dashboard sessions of the member end at once. The last owner cannot be deleted.',
      errors: ['invalid_transition'],
    },
  },
  transitions: {
    unlink_oidc: {
      summary: 'Remove the link of a member to an account at a provider',
      description:
        'The sessions of the member end. The next sign-in there links it again, if its verified address matches.',
    },
    reset_second_factor: {
      summary: 'Remove the second factor of a member',
      description:
        'For a member that has lost the authenticator and the recovery codes. A new password does not remove it.',
    },
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly auth: typeof auth
    readonly projects: typeof projects
    readonly projectKeys: typeof projectKeys
    readonly projectMembers: typeof projectMembers
  }
}
