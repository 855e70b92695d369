/** The kinds of credential; `Principal` in src/actors/call/call.ts has one shape for each. */
export type CredentialKind = 'secret_key' | 'agent_key' | 'client_token' | 'dashboard' | 'public'

/** Permissions of a client token. */
export const permissions = ['sessions:turn'] as const

/** One of `permissions`. */
export type Permission = (typeof permissions)[number]

/**
 * Roles of a dashboard member, weakest first: a member reads, an approver also answers approvals, an admin changes what the
 * project has, an owner manages members.
 */
export const roles = ['member', 'approver', 'admin', 'owner'] as const

/** One of `roles`. */
export type Role = (typeof roles)[number]

/** Credentials that may call an operation. A valid credential of another kind is answered 403. */
export interface Access {
  readonly kinds: readonly CredentialKind[]
  /** Public keys of agents may call it too, which browsers show: without it they are answered 403 `forbidden`. */
  readonly publicKeys?: true
  /** Permission that a client token needs: 403 `insufficient_scope` without it. */
  readonly permission?: Permission
  /** Weakest role of a dashboard member: 403 `forbidden` below it. */
  readonly role?: Role
  /** The same for what changes something; by default `admin`, for a member reads. Only declarations have it. */
  readonly changes?: Role
}

/** The access of an operation with this method: what only reads takes `role`, all else the stronger of `role` and `changes`. */
export const accessFor = ({ changes = 'admin', ...access }: Access, method: string): Access => {
  if (method === 'GET' || access.role === undefined) return access
  return { ...access, role: roles.indexOf(access.role) < roles.indexOf(changes) ? changes : access.role }
}

/** A project's secret key: any other valid credential is answered 403 `secret_key_required`. */
export const secretKeyOnly: Access = { kinds: ['secret_key'] }

/** A secret key, the key of the agent concerned, or a client token. */
export const keyOrClient: Access = { kinds: ['secret_key', 'agent_key', 'client_token'], publicKeys: true }

/** As `keyOrClient`, or a dashboard session: members read, admins do what costs money. */
export const keyClientOrDashboard: Access = {
  ...keyOrClient,
  kinds: [...keyOrClient.kinds, 'dashboard'],
  role: 'member',
}

/** A secret key, or the dashboard session of a member with at least this role. */
export const secretKeyOrDashboard = (role: Role): Access => ({ kinds: ['secret_key', 'dashboard'], role })

/** A secret key, a secret key of an agent, or a dashboard session. */
export const anyKeyOrDashboard: Access = { kinds: ['secret_key', 'agent_key', 'dashboard'], role: 'member' }

/** The same, and public keys of agents. */
export const publicKeyOrDashboard: Access = { ...anyKeyOrDashboard, publicKeys: true }

/** A dashboard session of a member with at least this role. */
export const dashboardOnly = (role: Role): Access => ({ kinds: ['dashboard'], role })

/** No credential. A credential that is sent is ignored. */
export const publicAccess: Access = { kinds: ['public'] }
