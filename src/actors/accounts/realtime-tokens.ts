import type { Principal } from '../call/call.ts'

/** Who an ephemeral secret acts for: an end user, or the key that minted it. */
export interface RealtimeGrant {
  readonly project: string
  /** Id of the secret's record. */
  readonly secretId: string
  readonly mintedBy: string
  readonly user: { readonly tenant: string; readonly user: string; readonly permissions: readonly string[] } | null
  /** Installation that the secret is restricted to; null for none. */
  readonly installationId: string | null
}

/** Prefix of ephemeral secrets, as OpenAI's clients expect it. */
export const realtimePrefix = 'ek_'

/** Longest lifetime of an ephemeral secret in seconds. */
export const maxRealtimeTokenS = 7_200

/** The claims of a secret. */
export const realtimeClaims = ({ project, secretId, mintedBy, user, installationId }: RealtimeGrant) => ({
  ...{ project, secret_id: secretId, minted_by: mintedBy, installation_id: installationId },
  ...(user !== null && { tenant: user.tenant, permissions: [...user.permissions] }),
})

/**
 * Returns the principal of a verified secret; null for claims of another form. Without a user it is that of the key, and
 * like it subject to the limits of the key.
 */
export const realtimePrincipal = (claims: Readonly<Record<string, unknown>>): Principal | null => {
  const { project, secret_id: realtimeSecret, minted_by: keyId, installation_id, tenant, permissions, sub } = claims
  if (typeof project !== 'string' || typeof realtimeSecret !== 'string' || typeof keyId !== 'string') return null
  if (tenant === undefined) return Object.freeze({ kind: 'secret_key', project, keyId, realtimeSecret })
  if (typeof tenant !== 'string' || typeof sub !== 'string' || !Array.isArray(permissions)) return null
  return Object.freeze({
    ...{ kind: 'client_token', project, tenant, user: sub, permissions: permissions.map(String), sessionId: null },
    ...{
      installationIds: typeof installation_id === 'string' ? [installation_id] : [],
      mintedBy: keyId,
      realtimeSecret,
    },
  })
}
