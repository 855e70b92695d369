/**
 * What stands before the hash of a blob that belongs to one actor: removing everything under it takes nothing of any other
 * else, and what starts with a tenant's part (`tenantBlobs`) goes with the tenant.
 */
export const actorBlobs = ({ tenant, actor }: { readonly tenant: string | null; readonly actor: string }): string =>
  `${tenant === null ? '' : tenantBlobs(tenant)}${actor}.`

/** What stands before the hash of all that belongs to a tenant. */
export const tenantBlobs = (tenant: string): string => `${tenant}.`

/** The SHA-256 at the end of a blob's name. */
export const contentHashOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)
