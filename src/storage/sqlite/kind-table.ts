import type { RecordKind } from '../ports.ts'

/** The table of a kind. @throws {Error} for a name that is not snake_case: it goes into SQL. */
export const tableOf = ({ name }: RecordKind): string => `records_${plain(name)}`

/** The JSON text of a field of `data`; null when the record lacks it. All indexes and conditions use this very expression. */
export const columnOf = (field: string): string => `nullif(data -> '$."${plain(field)}"', 'null')`

/** The column of messages, which tables of the first release lack. */
export const outboxColumn = (kind: RecordKind): string => `alter table ${tableOf(kind)} add column outbox text`

/** The statement that makes a kind's table, where it is missing. */
export const kindTable = (kind: RecordKind): string =>
  `create table if not exists ${tableOf(kind)} (id text primary key, project text not null, tenant text, user text,
     version integer not null, created_at integer not null, updated_at integer not null, expires_at integer,
     data text not null, outbox text)`

/** Statements that make a kind's indexes, where they are missing. */
export const kindIndexes = (kind: RecordKind): string => {
  const table = tableOf(kind)
  const index = (what: string, name: string, on: string, where = ''): string =>
    `create ${what} if not exists ${table}_${name} on ${table} (${on}) ${where}`
  return [
    index('index', 'by_project', 'project, id'),
    index('index', 'by_tenant', 'project, tenant, id'),
    index('index', 'by_user', 'project, tenant, user, id'),
    index('index', 'by_expiry', 'expires_at', 'where expires_at is not null'),
    ...(kind.outbox ? [index('index', 'by_outbox', 'id', 'where outbox is not null')] : []),
    ...(kind.filters ?? []).map((field) => index('index', `filter_${field}`, `project, ${columnOf(field)}, id`)),
    ...(kind.unique ?? []).map(({ fields, global = false }) => {
      const values = fields.map(columnOf)
      const present = values.map((value) => `${value} is not null`).join(' and ')
      const name = `${global ? 'global' : 'unique'}_${fields.join('_')}`
      return index('unique index', name, [...(global ? [] : ['project']), ...values].join(', '), `where ${present}`)
    }),
  ].join(';\n')
}

const plain = (name: string): string => {
  if (!/^[a-z][a-z0-9_]*$/i.test(name)) throw new Error(`${name} is no name for a kind or a field`)
  return name
}
