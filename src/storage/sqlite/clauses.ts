import type { Scope, TenantsAmong } from '#storage/scope.ts'

export type Value = string | number | null

/** A condition in SQL and the values of its question marks. */
export interface Clause {
  readonly sql: string
  readonly values: readonly Value[]
}

/** Joins conditions. */
export const and = (clauses: readonly Clause[]): Clause => ({
  sql: clauses.map(({ sql }) => sql).join(' and '),
  values: clauses.flatMap(({ values }) => values),
})

/** Rows of a scope. */
export const inScope = ({ project, tenant, user, among }: Scope): Clause =>
  and([
    { sql: 'project = ?', values: [project] },
    ...(among === undefined ? [] : [amongTenants(among)]),
    ...(tenant === null ? [] : [{ sql: 'tenant = ?', values: [tenant] }]),
    ...(user === null ? [] : [{ sql: 'user = ?', values: [user] }]),
  ])

/** One value for any number of tenants, since the number of a statement's values is limited. */
const amongTenants = ({ tenants, untenanted }: TenantsAmong): Clause => {
  const listed = 'tenant in (select value from json_each(?))'
  return { sql: untenanted ? `(tenant is null or ${listed})` : listed, values: [JSON.stringify(tenants)] }
}
