import { listIndexes } from '../list-index.ts'
import type { RecordKind } from '../ports.ts'
import { indexedFields } from '../record-keys.ts'
import { recordColumns } from './schema.ts'

/** The table name of a kind. @throws {Error} for a name that is not snake_case, since it goes into SQL. */
export const tableOf = ({ name }: RecordKind): string => `records_${plain(name)}`

/**
 * The column with the JSON text of an indexed field of `data`; null when the record lacks it. Indexes are on these
 * columns and not on expressions: an update that leaves a field as it was then leaves the field's indexes alone.
 */
export const columnOf = (field: string): string => `key_${plain(field)}`

/** The statement that adds the column of an indexed field. */
export const keyColumn = (kind: RecordKind, field: string): string =>
  `alter table ${tableOf(kind)} add column ${columnOf(field)} text`

/** The statement that copies indexed fields out of the records' data where a release without the columns wrote it. */
export const fillKeys = (kind: RecordKind): string | null => {
  const texts = indexedFields(kind).map((field) => [columnOf(field), `nullif(data -> '$."${plain(field)}"', 'null')`])
  if (texts.length === 0) return null
  const set = texts.map(([column, text]) => `${column} = ${text}`).join(', ')
  return `update ${tableOf(kind)} set ${set} where ${texts.map(([column, text]) => `${column} is not ${text}`).join(' or ')}`
}

/** The statement that adds the outbox column, which tables of the first release lack. */
export const outboxColumn = (kind: RecordKind): string => `alter table ${tableOf(kind)} add column outbox text`

/**
 * The statement that creates a kind's table, in exactly the text that SQLite stores, with all columns: SQLite reads the
 * whole schema again after each that is added to a table.
 */
export const kindTable = (kind: RecordKind): string => {
  const keys = indexedFields(kind).map((field) => `, ${columnOf(field)} text`)
  return `CREATE TABLE ${tableOf(kind)} (id text primary key, project text not null, tenant text, user text,
     version integer not null, created_at integer not null, updated_at integer not null, expires_at integer,
     data text not null, outbox text${keys.join('')})`
}

/** The name of a kind's index in the database. */
export const indexIn = (kind: RecordKind, name: string): string => `${tableOf(kind)}_${name}`

/**
 * The statements that create a kind's indexes, by name, in exactly the text that SQLite stores. Indexes for lists end
 * in `expires_at`, so that rows are counted and skipped without being read.
 */
export const kindIndexes = (kind: RecordKind): ReadonlyMap<string, string> => {
  const index = (
    what: string,
    name: string,
    { on, where = '' }: { readonly on: readonly string[]; readonly where?: string },
  ): [string, string] => {
    const full = indexIn(kind, name)
    return [full, `CREATE ${what} ${full} on ${tableOf(kind)} (${on.join(', ')})${where && ` where ${where}`}`]
  }
  return new Map([
    ...listIndexes(kind).map(({ name, owner, fields }) => {
      const inner = owner.at(-1)
      const owned = inner === 'project' || fields.length === 0 ? '' : `${inner} is not null`
      return index('INDEX', name, { on: [...owner, ...fields.map(columnOf), 'id', 'expires_at'], where: owned })
    }),
    index('INDEX', 'by_expiry', { on: ['expires_at'], where: 'expires_at is not null' }),
    ...(kind.due === undefined
      ? []
      : [index('INDEX', 'by_due', { on: [columnOf(kind.due)], where: `${columnOf(kind.due)} is not null` })]),
    ...(kind.outbox ? [index('INDEX', 'by_outbox', { on: ['id'], where: 'outbox is not null' })] : []),
    ...(kind.unique ?? []).map(({ fields, global = false }) => {
      const values = fields.map(columnOf)
      const present = values.map((value) => `${value} is not null`).join(' and ')
      const name = `${global ? 'global' : 'unique'}_${fields.join('_')}`
      return index('UNIQUE INDEX', name, { on: [...(global ? [] : ['project']), ...values], where: present })
    }),
  ])
}

/** The columns of a kind's table, in the order in which its values are given, and the statements that every row needs, made once. */
export const textsOf = (kind: RecordKind): TableTexts => {
  const known = textsOfKinds.get(kind)
  if (known !== undefined) return known
  const columns = [...recordColumns.split(', '), ...indexedFields(kind).map(columnOf)]
  const [table, all] = [tableOf(kind), columns.join(', ')]
  const made = {
    columns,
    versionAt: columns.indexOf('version'),
    insert: `insert into ${table} (${all}) values (${columns.map(() => '?').join(', ')})`,
    one: `select ${all} from ${table} where id = ?`,
    update: `update ${table} set `,
  }
  textsOfKinds.set(kind, made)
  return made
}

type TableTexts = Readonly<Record<'insert' | 'one' | 'update', string>> & {
  readonly columns: readonly string[]
  readonly versionAt: number
}

const textsOfKinds = new WeakMap<RecordKind, TableTexts>()

const plain = (name: string): string => {
  if (!/^[a-z][a-z0-9_]*$/i.test(name)) throw new Error(`${name} is no name for a kind or a field`)
  return name
}
