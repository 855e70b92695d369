import { randomBytes } from 'node:crypto'
import type { Role } from '#specs/access.ts'
import type { KeyScopes } from '#specs/reach/key-scopes.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'
import type { SealedSecrets } from '../records/sealing/rotated-secrets.ts'
import { newSigningSecret } from '../records/secrets.ts'
import { oidcConnections } from './oidc/kinds.ts'

/*
 * A row belongs to its `project`. Rows that belong to an organisation as a whole (its projects, members and dashboard
 * sessions) have the organisation's id in that field. Ids of organisations (`org_`) and projects (`prj_`) never
 * collide, so these rows are not reachable by a project's scope, but only by `organizationScope`.
 */

export type OrganizationData = {
  readonly name: string
  /** Whether passwords need a second factor; absent: no. */
  readonly require_second_factor?: boolean
  /** Whether members other than owners can only sign in at a provider; absent: no. */
  readonly require_oidc?: boolean
}

export type ProjectData = {
  /** The row's own id again, indexed for the runtime, which knows the project and not its organisation. */
  readonly project_id: string
  readonly name: string
  /** Origins that browsers may call client-token routes from; `*` for any. */
  readonly allowed_origins: readonly string[]
  /** Signs the requests to server-run http tools (`whsec_…`), sealed by the secret box. */
  readonly signing_secret: string
  /** Secrets of before, sealed together (`SealedSecrets`). */
  readonly previous_signing_secret?: string | null
  readonly previous_signing_until_ms?: number | null
  /** Cause of the last rotation, whose repetition replaces a secret that no one was shown; absent without a key. */
  readonly signing_rotated_by?: string | null
  /** Caps and retention of memory; absent: the defaults. */
  readonly memory?: ProjectMemory
  /** Settings of knowledge bases; absent: the defaults. */
  readonly knowledge?: ProjectKnowledge
  /** Pages to which the sign-in of a connection may return; absent or empty: any. */
  readonly return_urls?: readonly string[]
  /** Which remote tool servers requests may name; absent: any. */
  readonly remote_servers?: 'any' | 'registered'
  /** Model that reviews skills for their meaning; absent or null: none. */
  readonly skill_review_model?: string | null
  /** Whether personal data is redacted unless the project's policy says otherwise; absent in older projects. */
  readonly redacts_by_default?: boolean
  /** Present while the project is being deleted. */
  readonly deletion?: ProjectDeletion
}

/** Progress of the deletion of a project. */
export type ProjectDeletion = {
  readonly started_at_ms: number
  readonly rounds: number
  /** Items left after the newest round, by collection. */
  readonly left: Readonly<Record<string, number>>
}

/** A project's settings for the memory of its users: a plan, and overrides of its limits. */
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

/** A project's settings for its knowledge bases. */
type ProjectKnowledge = {
  /** Model that reads the text of images and scans; null or absent: none. */
  readonly vision_model?: string | null
}

export type MemberData = {
  /** In lower case. It is the login name, so it is unique across organisations. */
  readonly email: string
  readonly name: string | null
  readonly role: Role
  readonly password_hash: string
  /** The session in which the member set this password, which stays valid; the mark of the password binds them. */
  readonly kept_session?: { readonly id: string; readonly password: string }
  /** Mark of the linked account at a provider; absent: none. */
  readonly oidc?: string
  /** Key of the second factor in base64, sealed; absent: none. */
  readonly totp_secret?: string
  readonly totp?: SecondFactorData
  /** Key that is to be confirmed, sealed. */
  readonly totp_offer?: string
  readonly totp_offer_until_ms?: number
}

/** What is known of the codes of a member. It changes with each attempt, so that attempts in parallel count. */
export type SecondFactorData = {
  readonly enabled_at_ms: number
  /** Step of the newest code that was used; those up to it are refused. */
  readonly last_step: number
  /** Hashes of the recovery codes that are left. */
  readonly recovery: readonly string[]
  /** Wrong codes since `failed_since_ms`. */
  readonly failures: number
  readonly failed_since_ms: number
}

/** Fields that all stored keys have. */
export type StoredKey = {
  readonly name: string
  /** HMAC of the key (secrets.ts); the key itself is not stored. */
  readonly hash: string
  /** First and last characters, by which people recognise the key. */
  readonly prefix: string
  readonly last4: string
  /** Id of the member, or key, that created it; null for the key of the first start. */
  readonly created_by: string | null
  /** ms since the epoch; null for never. */
  readonly expires_at_ms: number | null
  readonly revoked_at_ms: number | null
  /** Accurate to a minute. */
  readonly last_used_at_ms: number | null
  /** Absent: no limits, as in keys of earlier releases. */
  readonly scopes?: KeyScopes
}

export type ProjectKeyData = StoredKey & {
  /** Id of the key that replaced it in a rotation; null for none. */
  readonly replaced_by: string | null
}

export type AgentKeyData = StoredKey & {
  readonly agent_id: string
  readonly environment: 'live' | 'test'
  /** `public`: visible in browsers. */
  readonly key_type: 'secret' | 'public'
  /** Domains whose pages may use the key; empty for no restriction. */
  readonly allowed_domains: readonly string[]
}

export type DashboardSessionData = {
  /** HMAC of the cookie's value. */
  readonly hash: string
  readonly member_id: string
  /** Mark of the password with which it was opened; absent in sessions of an earlier release. */
  readonly password?: string
  /** Absent: `password`, as in earlier releases. */
  readonly method?: 'password' | 'oidc'
  /** The provider's connection of a sign-in by `oidc`, with which the session ends. */
  readonly connection?: string | null
  readonly device?: string | null
  readonly address_family?: 'ipv4' | 'ipv6' | null
}

export const organizations: TypedKind<OrganizationData> = { name: 'organizations', outbox: true }

export const projects: TypedKind<ProjectData> = {
  name: 'projects',
  unique: [{ fields: ['project_id'], global: true }],
  outbox: true,
  sealed: ['signing_secret', 'previous_signing_secret'].map((field) => ({
    field,
    aad: ({ id }) => signingAad(id),
    // it signs requests, and is not sent itself
    sentTo: null,
    instead: (box, { id }) => box.seal(newSigningSecret(), signingAad(id)),
    loss: 'the secret that signs requests to http tools: the project gets a new one',
  })),
}

export const members: TypedKind<MemberData> = {
  name: 'members',
  unique: [
    { fields: ['email'], global: true },
    { fields: ['oidc'], global: true },
  ],
  filters: ['role'],
  outbox: true,
  sealed: (['totp_secret', 'totp_offer'] as const).map((field) => ({
    field,
    aad: ({ id }) => factorAad(id, field),
    sentTo: null,
    // never none, which would leave the password without its second factor
    instead: (box, { id }) => box.seal(randomBytes(20).toString('base64'), factorAad(id, field)),
    loss: 'the key of a second factor: the member signs in with a recovery code, or an owner removes it',
  })),
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
  oidcConnections,
]

/** Additional authenticated data with which a key of a member's second factor is sealed. */
export const factorAad = (member: string, field: 'totp_secret' | 'totp_offer'): string => `${member}|members|${field}`

/** The secrets that sign a project's requests to tools. */
export const signingOf = (data: ProjectData): SealedSecrets => ({
  secret: data.signing_secret,
  previous: data.previous_signing_secret ?? null,
  untilMs: data.previous_signing_until_ms ?? null,
})

/** Additional authenticated data with which a project's signing secret is sealed. */
export const signingAad = (project: string): string => `${project}|projects|signing_secret`
