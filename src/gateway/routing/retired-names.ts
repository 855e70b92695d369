import { createHash } from 'node:crypto'
import { Table } from '#records/table.ts'
import { type JsonObject, projectScope, type RecordStore, type Scope } from '#storage/index.ts'
import { type RetiredNameData, retiredNames } from './kinds.ts'
import { providerNamed, sellersOf } from './model-names.ts'

/** How long a former name is stored, in ms. */
const keptMs = 365 * 24 * 60 * 60 * 1000

interface RetiredName {
  readonly project: string
  readonly name: string
  readonly providerId: string
}

/**
 * Stores the current name of a provider as a former name.
 * @param keeps the provider's next name; absent when it is deleted.
 */
export type RetireName = (scope: Scope, providerId: string, keeps?: string) => Promise<void>

/**
 * Returns a function that must be called before a provider loses its name. Active providers take precedence over former
 * names, so a call whose change fails afterwards has no effect.
 */
export const nameRetirer = <T extends JsonObject>(
  { records, now }: { readonly records: RecordStore; readonly now: () => number },
  table: Table<T>,
  nameOf: (data: T) => string,
): RetireName => {
  const retired = new Table(records, retiredNames, now)
  return async (scope, providerId, keeps) => {
    const row = await table.get(scope, providerId)
    if (row === null) return
    const name = nameOf(row.data).toLowerCase()
    if (name === keeps?.toLowerCase() || isFree(name)) return
    await remember(retired, { project: scope.project, name, providerId }, now() + keptMs)
  }
}

/**
 * Whether a name needs no row: names of known providers and ids of known models regain their own meaning immediately.
 */
const isFree = (name: string): boolean => providerNamed(name) !== undefined || sellersOf(name).length > 0

const remember = async (table: Table<RetiredNameData>, retired: RetiredName, expiresAtMs: number): Promise<void> => {
  const { project, name, providerId } = retired
  const id = `rtn_${createHash('sha256').update(`${project}\n${name}`).digest('base64url')}`
  const data = { name, provider_id: providerId }
  if ((await table.insert({ id, project, expiresAtMs, data })) !== null) return
  const row = await table.get(projectScope(project), id)
  if (row !== null) await table.replace(row, data, { expiresAtMs })
}
