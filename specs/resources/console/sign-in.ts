import { type Access, dashboardOnly } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'

/** What a member does with its own sign-in. */
const own: Access = { ...dashboardOnly('member'), changes: 'member' }

/** As `own`, also for a member that has yet to set up the second factor which its organization requires. */
const beforeSecondFactor: Access = { ...own, beforeSecondFactor: true }

/** Dashboard sessions. */
export const authSessions = defineResource('auth_sessions', {
  path: '/api/auth/sessions',
  key: 'auth_session_id',
  idPrefix: 'dse',
  title: 'DashboardSession',
  description: 'A browser in which a member is signed in. It ends 12 hours after its last use.',
  fields: {
    member_id: string(),
    is_current: described(boolean(), 'Whether the request was made with this session.'),
    method: described(oneOf('password', 'oidc'), 'How the member signed in.'),
    device: described(nullable(string()), 'Browser and system by their own account, such as `Firefox on Linux`.'),
    address_family: described(nullable(oneOf('ipv4', 'ipv6')), 'Kind of the address of the sign-in.'),
    last_used_at: described(timestamp(), 'Accurate to five minutes.'),
    expires_at: timestamp(),
  },
  writable: [],
  access: own,
  operations: {
    list: {
      summary: 'List dashboard sessions',
      description: 'Newest first. Those of the signed-in member; owners may name another member of the organization.',
      query: { member_id: optional(string({ minLength: 1, maxLength: 128 })) },
    },
    delete: {
      summary: 'End a dashboard session',
      description:
        'It is refused at once on this node, and within a second on every other. Members end their own sessions, owners those of every member.',
    },
  },
})

const password = string({ minLength: 1, maxLength: 1024 })
const code = string({ minLength: 1, maxLength: 64, description: 'A code of the authenticator, or a recovery code.' })

const secondFactorState = object(
  {
    enabled: boolean(),
    required: described(boolean(), 'Whether the organization requires a second factor.'),
    enabled_at: nullable(timestamp()),
    recovery_codes_left: integer({ description: 'Recovery codes that have not been used.' }),
  },
  { title: 'SecondFactor', description: "Second factor of the signed-in member's password." },
)

const recoveryCodes = object(
  { recovery_codes: described(array(string()), 'Each replaces a code of the authenticator once. Shown once.') },
  { title: 'RecoveryCodes' },
)

const enrolment = object(
  {
    secret: string({ description: 'The key in base32, to be typed into an authenticator.' }),
    uri: string({ description: 'The key as an `otpauth` URI.' }),
    qr: string({ description: 'That URI as a QR code: an SVG document.' }),
    expires_at: described(timestamp(), 'Time until which it can be confirmed.'),
  },
  { title: 'SecondFactorEnrolment' },
)

/** The second factor of the signed-in member. */
export const secondFactor = defineOperations('second_factor', {
  get: {
    summary: 'Retrieve the second factor of the signed-in member',
    description:
      'Returns whether there is one, and how many recovery codes are left. A lost code cannot be shown again.',
    method: 'GET',
    path: '/api/auth/second-factor',
    access: beforeSecondFactor,
    answer: isJsonResponse(secondFactorState),
  },
  enrol: {
    summary: 'Start to set up a second factor',
    description:
      'Returns a new key for an authenticator (TOTP of RFC 6238: SHA-1, 6 digits, 30 seconds). It takes effect with `second_factor.confirm`, within ten minutes. A second factor that is in use has to be disabled first.',
    method: 'POST',
    path: '/api/auth/second-factor/enrol',
    access: beforeSecondFactor,
    body: object({ password }),
    answer: isJsonResponse(enrolment, { secret: true }),
    errors: ['invalid_credentials', 'rate_limit_exceeded', 'invalid_transition'],
    idempotency: 'ignored',
  },
  confirm: {
    summary: 'Confirm a second factor',
    description:
      'From now on a sign-in with the password requires a code. Returns ten recovery codes, which are shown only here.',
    method: 'POST',
    path: '/api/auth/second-factor/confirm',
    access: beforeSecondFactor,
    body: object({ code: string({ minLength: 1, maxLength: 64, description: 'A code of the authenticator.' }) }),
    answer: isJsonResponse(recoveryCodes, { secret: true }),
    errors: ['invalid_credentials', 'invalid_transition'],
    idempotency: 'ignored',
  },
  recovery_codes: {
    summary: 'Replace the recovery codes',
    description: 'Returns ten new ones, which are shown only here. Earlier ones become invalid.',
    method: 'POST',
    path: '/api/auth/second-factor/recovery-codes',
    access: own,
    body: object({ code }),
    answer: isJsonResponse(recoveryCodes, { secret: true }),
    errors: ['invalid_credentials', 'rate_limit_exceeded', 'invalid_transition'],
    idempotency: 'ignored',
  },
  disable: {
    summary: 'Disable the second factor',
    description: 'Refused while the organization requires one.',
    method: 'POST',
    path: '/api/auth/second-factor/disable',
    access: own,
    body: object({ password, code }),
    answer: isJsonResponse(secondFactorState),
    errors: ['invalid_credentials', 'rate_limit_exceeded', 'invalid_transition'],
    idempotency: 'ignored',
  },
})

/** The organization of the signed-in member. */
export const organizations = defineResource('organizations', {
  path: '/api/organizations',
  key: 'organization_id',
  idPrefix: 'org',
  title: 'Organization',
  description: 'Owner of projects, with the rules by which its members sign in.',
  fields: {
    name: string({ minLength: 1, maxLength: 256 }),
    require_second_factor: described(
      defaulted(boolean(), false),
      'Whether passwords need a second factor. A member without one can only set it up. Only a member that has one can require it.',
    ),
    require_oidc: described(
      defaulted(boolean(), false),
      'Whether members sign in at a provider only. Owners keep their passwords, in case the provider fails. Requires an active provider.',
    ),
  },
  writable: ['name', 'require_second_factor', 'require_oidc'],
  access: dashboardOnly('member'),
  operations: {
    list: { description: 'Returns the organization of the signed-in member, and no other.' },
    update: {
      access: dashboardOnly('owner'),
      description: 'Takes effect for every session within a second, on every node.',
      errors: ['invalid_transition'],
    },
  },
})

declare module '../../index.ts' {
  interface Resources {
    readonly authSessions: typeof authSessions
    readonly secondFactor: typeof secondFactor
    readonly organizations: typeof organizations
  }
}
