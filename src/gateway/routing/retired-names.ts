import { createHash } from 'node:crypto'
import { Table } from '#records/table.ts'
import { projectScope, type Scope } from '#specs/scope.ts'
import type { JsonObject, RecordStore } from '#storage/ports.ts'
import { type RetiredNameData, retiredNames } from './kinds.ts'
import { providerNamed, sellersOf } from './model-names.ts'

/** How long a name is remembered, in ms. */
const keptMs = 365 * 24 * 60 * 60 * 1000

interface RetiredName {
  readonly project: string
  readonly name: string
  readonly providerId: string
}

/** Remembers the name that a provider is about to give up. @param keeps its next name; absent when it is deleted. */
export type RetireName = (scope: Scope, providerId: string, keeps?: string) => Promise<void>

/**
 * Call it before a provider loses its name. A provider that has the name comes first wherever both are read, so that a
 * change which fails afterwards leaves no trace.
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

/** Words of known providers and ids of known models mean those again at once. */
const isFree = (name: string): boolean => providerNamed(name) !== undefined || sellersOf(name).length > 0

const remember = async (table: Table<RetiredNameData>, retired: RetiredName, expiresAtMs: number): Promise<void> => {
  const { project, name, providerId } = retired
  const id = `rtn_${createHash('sha256').update(`${project}\n${name}`).digest('base64url')}`
  const data = { name, provider_id: providerId }
  if ((await table.insert({ id, project, expiresAtMs, data })) !== null) return
  const row = await table.get(projectScope(project), id)
  if (row !== null) await table.replace(row, data, { expiresAtMs })
}
