import { dashboardOnly, publicAccess, roles } from '../access.ts'
import { answersJson, answersJsonWithHeaders } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { defineResource } from '../dsl/resource.ts'
import {
  array,
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

/** Dashboard sessions, in a cookie. */
export const auth = defineOperations('auth', {
  login: {
    summary: 'Sign in',
    description: 'Sets the session cookie.',
    method: 'POST',
    path: '/api/auth/login',
    // before anyone is known: short enough to need no room (specs/decisions/0225-room-for-long-bodies.md)
    maxBodyBytes: 12 * 1024,
    access: publicAccess,
    body: object({
      email: string({ minLength: 1, maxLength: 320 }),
      password: string({ minLength: 1, maxLength: 1024 }),
    }),
    answer: answersJsonWithHeaders(identity),
    errors: ['invalid_credentials', 'rate_limit_exceeded', 'csrf_refused'],
    idempotency: 'ignored',
  },
  logout: {
    summary: 'Sign out',
    description: 'The session ends at once.',
    method: 'POST',
    path: '/api/auth/logout',
    access: { ...dashboardOnly('member'), changes: 'member' },
    answer: answersJsonWithHeaders(object({ success: constant(true) })),
    idempotency: 'ignored',
  },
  change_password: {
    summary: 'Change the password of the signed-in member',
    description: 'Every other session of the member ends.',
    method: 'POST',
    path: '/api/auth/password',
    access: { ...dashboardOnly('member'), changes: 'member' },
    body: object({ password: string({ minLength: 1, maxLength: 1024 }), new_password: newPassword }),
    answer: answersJson(object({ success: constant(true) })),
    errors: ['invalid_credentials', 'rate_limit_exceeded'],
    idempotency: 'ignored',
  },
  me: {
    summary: 'Retrieve the signed-in member',
    method: 'GET',
    path: '/api/auth/me',
    access: dashboardOnly('member'),
    answer: answersJson(identity),
  },
})

const cap = (description: string) => optional(nullable(integer({ min: 0, max: 1_000_000_000, description })))

const projectMemory = object(
  {
    plan: optional(nullable(oneOf('free', 'pro', 'team'))),
    stored_limit: cap('Memories that the project stores.'),
    searches_per_month: cap('Searches of the project in a calendar month.'),
    writes_per_month: cap('Writes of the project in a calendar month.'),
    searches_per_user_day: cap('Searches of one user in a day.'),
    writes_per_user_day: cap('Writes of one user in a day.'),
    user_retention_days: cap('Days for which memories of users are kept.'),
    session_retention_days: cap('Days for which memories of sessions are kept.'),
    embedder: optional(
      nullable(
        string({
          minLength: 1,
          maxLength: 256,
          description:
            'Embedder of memories and of knowledge bases: `local`, `none`, or a model of `embeddings.create`. What another one made is embedded anew.',
        }),
      ),
    ),
  },
  { title: 'ProjectMemory', description: 'Caps, retention and embedder of the memory of users.' },
)

const projectDeletion = object(
  {
    started_at: timestamp(),
    rounds: integer({ description: 'Rounds of removal that have ended.' }),
    left: described(record(integer()), 'Number of items that the newest round left, by kind.'),
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
      'Origins of browsers that may use client tokens. `*` for any.',
    ),
    return_urls: described(
      defaulted(array(returnUrl, { maxItems: 100 }), []),
      'Pages that sign-ins of connections may lead back to (`connections.authorize`). One that ends with a slash allows what is below it. Empty: any page over https.',
    ),
    remote_servers: described(
      defaulted(oneOf('any', 'registered'), 'any'),
      'Remote tool servers that turns and responses may name: `registered` forbids to bring one along by its URL.',
    ),
    memory: described(
      defaulted(projectMemory, {}),
      'Caps, retention and embedder of the memory of users. What is named wins over the plan; null takes a cap away.',
    ),
    status: described(
      oneOf('active', 'deleting'),
      '`deleting`: keys are refused, and what the project has is removed.',
    ),
    deletion: described(nullable(projectDeletion), 'How far the deletion is; null for a project that stays.'),
  },
  writable: ['name', 'allowed_origins', 'memory', 'return_urls', 'remote_servers'],
  transitions: {
    delete: {
      summary: 'Delete a project',
      description:
        'Removes the project with everything in it for good: sessions, runs, agents, tenants, memories, knowledge, keys, usage and its audit log. Its keys and tokens are refused at once, members can only read what is left, and `deletion` shows how far it is; the project is not found when it is gone. The last project of an organisation stays.',
      access: dashboardOnly('owner'),
      body: object({ name: string({ minLength: 1, maxLength: 128, description: 'Name of the project, to confirm.' }) }),
      status: 202,
      errors: ['last_project'],
    },
  },
  access: dashboardOnly('member'),
  operations: {
    list: {},
    create: { access: dashboardOnly('admin') },
    get: {},
    update: {
      access: dashboardOnly('admin'),
      description: 'Renames the project, or replaces what is sent of its settings: within a second on every node.',
    },
  },
})

const shownKey = { key: string({ description: 'The key, shown once.' }) }

/** Secret keys of a project; the key itself is shown once. */
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
    expires_at: nullable(timestamp()),
    last_used_at: nullable(timestamp()),
    revoked_at: nullable(timestamp()),
  },
  writable: ['name', 'expires_at'],
  access: dashboardOnly('admin'),
  operations: {
    list: { access: dashboardOnly('member') },
    create: { description: 'The response is the only one that shows `key`.', shows: shownKey },
    delete: { summary: 'Revoke a project key', description: 'The key is refused at once.', answersRow: true },
  },
  transitions: {
    rotate: {
      summary: 'Rotate a project key',
      description: 'Returns a new key. The old one is accepted for `grace_s` more seconds.',
      body: object({
        grace_s: described(
          defaulted(integer({ min: 0, max: 2_592_000 }), 86_400),
          'Seconds for which the old key is accepted.',
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
  description: 'A person who may sign in to the dashboard.',
  fields: { email, name: nullable(name), role: defaulted(role, 'member') },
  writable: ['email', 'name', 'role'],
  writeOnly: { password: newPassword },
  access: dashboardOnly('owner'),
  operations: {
    list: { access: dashboardOnly('member') },
    create: { errors: ['already_exists'] },
    update: {
      errors: ['already_exists', 'invalid_transition'],
      description:
        'A new role holds within a second on every node. A new password ends every session of the member. The last owner keeps its role.',
    },
    delete: { errors: ['invalid_transition'] },
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
