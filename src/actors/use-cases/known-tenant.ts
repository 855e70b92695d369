/**
 * Checks a tenant for which something is begun, where no credential and no field of the request has named it
 * (`TenantDirectory.admit`).
 *
 * @throws (from the check) {ServiceError} `not_found` for one that the project does not have, `tenant_suspended`,
 * `tenant_deleting`.
 */
export type CheckTenant = (project: string, tenant: string) => Promise<void>
