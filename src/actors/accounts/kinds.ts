import type { Role } from '#specs/access.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'
import { newSigningSecret } from '../records/secrets.ts'

/*
 * Whose data a row is, is its `project`. What belongs to an organisation as a whole (its projects, members and
 * dashboard sessions) has the organisation's id there: ids of organisations (`org_`) and projects (`prj_`) never
 * meet, so no project's scope reaches these rows, and only `organizationScope` does.
 */

export type OrganizationData = { readonly name: string }

export type ProjectData = {
  /** The row's own id again: makes it findable for the runtime, which knows the project and not its organisation. */
  readonly project_id: string
  readonly name: string
  /** Origins that browsers may call client-token routes from; `*` for any. */
  readonly allowed_origins: readonly string[]
  /** Signs the requests to server-run http tools (`whsec_…`), sealed by the secret box. */
  readonly signing_secret: string
  /** Sealed alike; signs beside the new one until `previous_signing_until_ms`. */
  readonly previous_signing_secret?: string
  readonly previous_signing_until_ms?: number
  /** Caps and retention of memory; absent: the defaults. */
  readonly memory?: ProjectMemory
  /** Pages that sign-ins of connections may lead back to; absent or none: any. */
  readonly return_urls?: readonly string[]
  /** Which remote tool servers requests may name; absent: any. */
  readonly remote_servers?: 'any' | 'registered'
  /** Personal data is redacted unless the project's policy says otherwise; absent in projects of before. */
  readonly redacts_by_default?: boolean
  /** The project is being deleted. */
  readonly deletion?: ProjectDeletion
}

/** How far the deletion of a project is. */
export type ProjectDeletion = {
  readonly started_at_ms: number
  readonly rounds: number
  /** What the newest round left, by collection. */
  readonly left: Readonly<Record<string, number>>
}

/** What a project says of the memory of its users: a plan, and what it has of its own. */
export type ProjectMemory = {
  readonly plan?: 'free' | 'pro' | 'team' | null
  readonly stored_limit?: number | null
  readonly searches_per_month?: number | null
  readonly writes_per_month?: number | null
  readonly searches_per_user_day?: number | null
  readonly writes_per_user_day?: number | null
  readonly user_retention_days?: number | null
  readonly session_retention_days?: number | null
  readonly embedder?: string | null
}

export type MemberData = {
  /** Lower case; the login, so unique everywhere. */
  readonly email: string
  readonly name: string | null
  readonly role: Role
  readonly password_hash: string
}

/** What every stored key has. */
export type StoredKey = {
  readonly name: string
  /** HMAC of the key (secrets.ts); the key itself is nowhere. */
  readonly hash: string
  /** What people recognise a key by: its first and last characters. */
  readonly prefix: string
  readonly last4: string
  /** Id of the member, or key, that made it; null for the one of the first start. */
  readonly created_by: string | null
  /** ms since the epoch; null for never. */
  readonly expires_at_ms: number | null
  readonly revoked_at_ms: number | null
  /** Accurate to a minute. */
  readonly last_used_at_ms: number | null
}

export type ProjectKeyData = StoredKey & {
  /** Id of the key that took its place in a rotation. */
  readonly replaced_by: string | null
}

export type AgentKeyData = StoredKey & {
  readonly agent_id: string
  readonly environment: 'live' | 'test'
  /** `public`: it is seen in browsers. */
  readonly key_type: 'secret' | 'public'
  /** Where requests may come from; empty for anywhere. */
  readonly allowed_domains: readonly string[]
}

export type DashboardSessionData = {
  /** HMAC of the cookie's value. */
  readonly hash: string
  readonly member_id: string
}

export const organizations: TypedKind<OrganizationData> = { name: 'organizations' }

export const projects: TypedKind<ProjectData> = {
  name: 'projects',
  unique: [{ fields: ['project_id'], global: true }],
  outbox: true,
  sealed: ['signing_secret', 'previous_signing_secret'].map((field) => ({
    field,
    aad: ({ id }) => signingAad(id),
    instead: (box, { id }) => box.seal(newSigningSecret(), signingAad(id)),
    loss: 'the secret that signs requests to http tools: the project gets a new one',
  })),
}

export const members: TypedKind<MemberData> = {
  name: 'members',
  unique: [{ fields: ['email'], global: true }],
  filters: ['role'],
  outbox: true,
}

export const projectKeys: TypedKind<ProjectKeyData> = {
  name: 'project_keys',
  unique: [{ fields: ['hash'], global: true }],
  outbox: true,
}

export const agentKeys: TypedKind<AgentKeyData> = {
  name: 'agent_keys',
  unique: [{ fields: ['hash'], global: true }],
  filters: ['agent_id'],
  outbox: true,
}

export const dashboardSessions: TypedKind<DashboardSessionData> = {
  name: 'dashboard_sessions',
  unique: [{ fields: ['hash'], global: true }],
  filters: ['member_id'],
}

/** All kinds of this folder, for `RecordStore.prepare`. */
export const authKinds: readonly AnyKind[] = [
  organizations,
  projects,
  members,
  projectKeys,
  agentKeys,
  dashboardSessions,
]

/** What a project's signing secret is sealed for. */
export const signingAad = (project: string): string => `${project}|projects|signing_secret`
