/** Kinds of credentials. `Principal` in src/actors/call/call.ts has one variant for each. */
export type CredentialKind = 'secret_key' | 'agent_key' | 'client_token' | 'dashboard' | 'public'

/** Permissions of a client token. */
export const permissions = ['sessions:turn', 'sessions:approve', 'sessions:tools'] as const

/** One of `permissions`. */
type Permission = (typeof permissions)[number]

/**
 * Roles of a dashboard member, weakest first: a member reads, an approver also decides approvals, an admin changes the
 * resources of the project, an owner manages members.
 */
export const roles = ['member', 'approver', 'admin', 'owner'] as const

/** One of `roles`. */
export type Role = (typeof roles)[number]

/** Credentials that may call an operation. A valid credential of another kind receives 403. */
export interface Access {
  readonly kinds: readonly CredentialKind[]
  /** Also allows public keys of agents, which are visible in browsers. Without it they receive 403 `forbidden`. */
  readonly publicKeys?: true
  /** Permissions of which a client token needs one: 403 `insufficient_scope` without any. */
  readonly permissions?: readonly Permission[]
  /** Weakest role of a dashboard member: 403 `forbidden` below it. */
  readonly role?: Role
  /**
   * A valid credential of another kind receives `secret_key_required` instead of `forbidden`, as the row of the API says
   * (`isSecretKeyRow`). Set by `defineOperation`.
   */
  readonly secretKeyRow?: true
  /** Members call a row that requires a secret key at its own path too, since only they may give a part of the body. */
  readonly rowForMembers?: true
  /** A member may call it before setting up the second factor that its organization requires. */
  readonly beforeSecondFactor?: true
  /**
   * Weakest role of a member who may call it in the console all the same, at a path of its own (specs/reach/console-paths.ts):
   * the interface keeps the operation's own path for the secret key.
   */
  readonly console?: Role
  /** Weakest role for methods other than GET, if stronger than `role`; default `admin`. Only used in declarations. */
  readonly changes?: Role
}

/** Returns the access of an operation with this method: `role` for GET, else the stronger of `role` and `changes`. */
export const accessFor = ({ changes = 'admin', ...access }: Access, method: string): Access => {
  if (method === 'GET' || access.role === undefined) return access
  return { ...access, role: roles.indexOf(access.role) < roles.indexOf(changes) ? changes : access.role }
}

/** A secret key, or a client token with one of these permissions. */
export const keyOrTokenWith = (...needed: readonly Permission[]): Access => ({
  kinds: ['secret_key', 'client_token'],
  permissions: needed,
})

/** The project's secret key. Any other valid credential receives 403 `secret_key_required`. */
export const secretKeyOnly: Access = { kinds: ['secret_key'] }

/** Like `secretKeyOnly`. Members who may create such a key, admins, also call it in the console. */
export const secretKeyOrConsole: Access = { ...secretKeyOnly, console: 'admin' }

/** A secret key, the key of the agent concerned, or a client token. */
export const keyOrClient: Access = { kinds: ['secret_key', 'agent_key', 'client_token'], publicKeys: true }

/** Like `keyOrClient`, or a dashboard session: members may read, admins may do what costs money. */
export const keyClientOrDashboard: Access = {
  ...keyOrClient,
  kinds: [...keyOrClient.kinds, 'dashboard'],
  role: 'member',
}

/** The refusal of a valid credential of another kind. */
export const wrongKindCode = ({ kinds, secretKeyRow }: Access): 'secret_key_required' | 'forbidden' =>
  secretKeyRow === true || (kinds.length === 1 && kinds[0] === 'secret_key') ? 'secret_key_required' : 'forbidden'

/** A secret key, or the dashboard session of a member with at least this role. */
export const secretKeyOrDashboard = (role: Role): Access => ({ kinds: ['secret_key', 'dashboard'], role })

/** A secret key, a secret key of an agent, or a dashboard session. */
export const anyKeyOrDashboard: Access = { kinds: ['secret_key', 'agent_key', 'dashboard'], role: 'member' }

/** Like `anyKeyOrDashboard`, and also public keys of agents. */
export const publicKeyOrDashboard: Access = { ...anyKeyOrDashboard, publicKeys: true }

/** A dashboard session of a member with at least this role. */
export const dashboardOnly = (role: Role): Access => ({ kinds: ['dashboard'], role })

/** No credential. A credential that is sent is ignored. */
export const publicAccess: Access = { kinds: ['public'] }
