/**
 * Name prefix of the blobs that belong to one actor: removing every blob with this prefix affects no other actor. It
 * begins with the tenant's prefix (`tenantBlobs`), so these blobs are also removed with the tenant.
 */
export const actorBlobs = ({ tenant, actor }: { readonly tenant: string | null; readonly actor: string }): string =>
  `${tenant === null ? '' : tenantBlobs(tenant)}${actor}.`

/** Name prefix of all blobs that belong to a tenant. */
export const tenantBlobs = (tenant: string): string => `${tenant}.`

/** The SHA-256 at the end of a blob's name. */
export const contentHashOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)
