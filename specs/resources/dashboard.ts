import { dashboardOnly, publicAccess, roles } from '../access.ts'
import { answersJson, answersJsonWithHeaders } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { defineResource } from '../resource.ts'
import { array, constant, defaulted, id, integer, nullable, object, oneOf, string, timestamp } from '../schema.ts'

const role = oneOf(...roles)
const name = string({ minLength: 1, maxLength: 256 })
const email = string({ format: 'email', maxLength: 320 })
const origin = string({ maxLength: 256, pattern: '^(\\*|https?://[^/\\s]+)$' })

const identity = object(
  {
    member: object({ id: id('usr'), email: string(), name: nullable(string()), role }),
    organization: object({ id: id('org'), name: string() }),
  },
  { title: 'Identity' },
)

/** Signing in to the dashboard; the session is a cookie. */
export const auth = defineOperations('auth', {
  login: {
    summary: 'Sign in; sets the session cookie',
    method: 'POST',
    path: '/api/auth/login',
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
    summary: 'Sign out; the session ends at once',
    method: 'POST',
    path: '/api/auth/logout',
    access: dashboardOnly('member'),
    answer: answersJsonWithHeaders(object({ success: constant(true) })),
    idempotency: 'ignored',
  },
  me: {
    summary: 'Who is signed in',
    method: 'GET',
    path: '/api/auth/me',
    access: dashboardOnly('member'),
    answer: answersJson(identity),
  },
})

/** Projects of the signed-in member's organisation. */
export const projects = defineResource('projects', {
  path: '/api/projects',
  key: 'project_id',
  idPrefix: 'prj',
  title: 'Project',
  fields: {
    name,
    /** Origins that browsers may call client-token routes from; `*` for any. */
    allowed_origins: defaulted(array(origin, { maxItems: 100 }), []),
  },
  writable: ['name', 'allowed_origins'],
  access: dashboardOnly('member'),
  operations: { list: {}, create: { access: dashboardOnly('admin') } },
})

const shownKey = { key: string() }

/** Secret keys of a project; the key itself is shown once. */
export const projectKeys = defineResource('project_keys', {
  path: '/api/projects/{project_id}/keys',
  key: 'key_id',
  idPrefix: 'key',
  title: 'ProjectKey',
  fields: {
    name,
    prefix: string(),
    last4: string(),
    created_by: nullable(string()),
    expires_at: nullable(timestamp()),
    last_used_at: nullable(timestamp()),
    revoked_at: nullable(timestamp()),
  },
  writable: ['name', 'expires_at'],
  access: dashboardOnly('admin'),
  operations: {
    list: { access: dashboardOnly('member') },
    create: { shows: shownKey },
    delete: { summary: 'Revoke a key; it is refused at once', answersRow: true },
  },
  transitions: {
    rotate: {
      summary: 'Replace a key; the old one is good for grace_s seconds more',
      body: object({ grace_s: defaulted(integer({ min: 0, max: 2_592_000 }), 86_400) }),
      status: 201,
      shows: shownKey,
      errors: ['invalid_transition'],
    },
  },
})

/** Who may sign in to a project's dashboard. */
export const projectMembers = defineResource('project_members', {
  path: '/api/projects/{project_id}/members',
  key: 'member_id',
  idPrefix: 'usr',
  title: 'Member',
  fields: { email, name: nullable(name), role: defaulted(role, 'member') },
  writable: ['email', 'name', 'role'],
  writeOnly: { password: string({ minLength: 12, maxLength: 1024 }) },
  access: dashboardOnly('owner'),
  operations: {
    list: { access: dashboardOnly('member') },
    create: { errors: ['already_exists'] },
    delete: { errors: ['invalid_transition'] },
  },
})
