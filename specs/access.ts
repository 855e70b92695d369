/** The kinds of credential; `Principal` in src/actors/call/call.ts has one shape for each. */
export type CredentialKind = 'secret_key' | 'agent_key' | 'client_token' | 'dashboard' | 'public'

/** What a client token may hold. */
export const permissions = ['sessions:turn'] as const

/** One of `permissions`. */
export type Permission = (typeof permissions)[number]

/** Roles of a dashboard member, weakest first. */
export const roles = ['member', 'admin', 'owner'] as const

/** One of `roles`. */
export type Role = (typeof roles)[number]

/** Who may call an operation. A valid credential of another kind is answered 403. */
export interface Access {
  readonly kinds: readonly CredentialKind[]
  /** What a client token must hold: 403 `insufficient_scope` without it. */
  readonly permission?: Permission
  /** The weakest role of a dashboard member that may: 403 `forbidden` below it. */
  readonly role?: Role
}

/** Rows marked S in the interface: any other valid credential gets 403 `secret_key_required`. */
export const secretKeyOnly: Access = { kinds: ['secret_key'] }

/** A secret key, an agent's key for what is its agent's, or a client token of the browser. */
export const keyOrClient: Access = { kinds: ['secret_key', 'agent_key', 'client_token'] }

/** The same; a client token needs `permission`. */
export const keyOrClientWith = (permission: Permission): Access => ({ ...keyOrClient, permission })

/** A secret key, or the dashboard session of a member with at least this role. */
export const secretKeyOrDashboard = (role: Role): Access => ({ kinds: ['secret_key', 'dashboard'], role })

/** Any key of the project, an agent's too, or a dashboard session. */
export const anyKeyOrDashboard: Access = { kinds: ['secret_key', 'agent_key', 'dashboard'], role: 'member' }

/** A dashboard session of a member with at least this role. */
export const dashboardOnly = (role: Role): Access => ({ kinds: ['dashboard'], role })

/** No credential at all; one that is sent is not looked at. */
export const publicAccess: Access = { kinds: ['public'] }
