import { requestLog } from '#gateway/ledger/kinds.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { isIdOf, type MachineDefinition } from '#machines/index.ts'
import type { ResultOf } from '#specs/index.ts'
import type { RecordKind, Scope, StoredRecord } from '#storage/index.ts'
import { agents } from '../agents/kinds.ts'
import { knowledgeBases } from '../knowledge/kinds.ts'
import { sanitizedText } from '../records/sanitize.ts'
import { endUsers, tenants, tenantUsers } from '../tenants/kinds.ts'
import { failureRows } from './failures.ts'
import { listedMachines, type ObservationParts } from './list-actors.ts'
import { listedActor, textOf } from './listed-actor.ts'

type Finding = ResultOf<'observation.find'>['data'][number]

/** Most results in total; most per machine for the beginning of an id; most tenants for one user id. */
const max = 20
const maxPerMachine = 5
const maxTenants = 10
/** Newest resources of a kind whose names are searched, and the shortest part of a name that is. */
const maxNamed = 200
const minPart = 2
const names = ['name', 'display_name', 'external_id']

/** Returns possible meanings of a text, the most likely first. */
export const findAnything = async (
  parts: ObservationParts,
  scope: Scope,
  text: string,
): Promise<readonly Finding[]> => {
  await parts.host.rows.shown()
  const found = await Promise.all([
    findActors(parts, scope, text),
    findNamed(parts, scope, { text, kind: agents, as: 'agent' }),
    findNamed(parts, scope, { text, kind: tenants, as: 'tenant' }),
    findNamed(parts, scope, { text, kind: knowledgeBases, as: 'knowledge' }),
    findModel(parts, scope, text),
    findUser(parts, scope, text),
    findFailure(parts, scope, { text, by: 'code', kind: 'error' }),
    findFailure(parts, scope, { text, by: 'tool', kind: 'tool' }),
    findRequest(parts, scope, text),
    findAbout(parts, scope, text),
  ])
  return found.flat().slice(0, max)
}

const findActors = async (parts: ObservationParts, scope: Scope, text: string): Promise<readonly Finding[]> => {
  const found = await Promise.all(
    listedMachines(parts).map(async ({ definition, rows }) => {
      const records = await Promise.all(
        beginningsOf(definition, text.toLowerCase()).map((beginning) =>
          startingWith(parts, scope, { kind: rows, beginning }),
        ),
      )
      return foundActors(parts, definition.name, records.flat())
    }),
  )
  return found.flat()
}

/** Finds sessions and runs among the newest by a part of what they are about. */
const findAbout = async (parts: ObservationParts, scope: Scope, text: string): Promise<readonly Finding[]> => {
  const part = text.toLowerCase()
  if (part.length < minPart) return []
  const machines = listedMachines(parts).filter(({ definition: { name } }) => name === 'session' || name === 'run')
  const found = await Promise.all(
    machines.map(async ({ definition, rows }) => {
      const newest = await parts.records.list(rows, scope, { limit: maxNamed })
      const about = await parts.headlines.of(newest)
      const fits = newest.filter(({ id }) => about.get(id)?.toLowerCase().includes(part))
      return foundActors(parts, definition.name, fits.slice(0, maxPerMachine))
    }),
  )
  return found.flat()
}

const foundActors = async (
  { headlines }: ObservationParts,
  machine: string,
  rows: readonly StoredRecord[],
): Promise<readonly Finding[]> => {
  const about = await headlines.of(rows)
  return rows.map((row): Finding => {
    const { id, state, label, updated_at } = listedActor(machine, row, { label: about.get(row.id) ?? null })
    return { kind: 'actor', id, tenant_id: null, machine, state, label, updated_at }
  })
}

/** The ids, or beginnings of ids, that the text can be, with the prefixes of the machine added if they are missing. */
const beginningsOf = (definition: MachineDefinition, text: string): readonly string[] => {
  if (isIdOf(definition, text)) return [text]
  if (!/^[0-7][0-9a-hjkmnp-tv-z]{3,25}$/.test(text)) return []
  return [definition.idPrefix, definition.olderIdPrefix].flatMap((prefix) =>
    prefix === undefined ? [] : [`${prefix}_${text}`],
  )
}

const startingWith = async (
  { records }: ObservationParts,
  scope: Scope,
  { kind, beginning }: { readonly kind: RecordKind; readonly beginning: string },
): Promise<readonly StoredRecord[]> => {
  const whole = await records.get(kind, scope, beginning)
  if (whole !== null) return [whole]
  const next = await records.list(kind, scope, { after: beginning, ascending: true, limit: maxPerMachine })
  return next.filter(({ id }) => id.startsWith(beginning))
}

/** Finds a resource by its id or external id, and the newest of a kind by a part of their names. */
const findNamed = async (
  { records }: ObservationParts,
  scope: Scope,
  { text, kind, as }: { readonly text: string; readonly kind: RecordKind; readonly as: Finding['kind'] },
): Promise<readonly Finding[]> => {
  const found = await records.get(kind, scope, text)
  if (found !== null) return [named(as, found)]
  const part = text.toLowerCase()
  const isNamed = ({ data }: StoredRecord): boolean =>
    names.some((field) => textOf(data[field])?.toLowerCase().includes(part) ?? false)
  const exact = kind === tenants ? await records.find(tenants, scope, { external_id: text }) : null
  const newest = part.length < minPart ? [] : await records.list(kind, scope, { limit: maxNamed })
  const others = newest.filter((each) => each.id !== exact?.id && isNamed(each))
  return [...(exact === null ? [] : [exact]), ...others].slice(0, maxPerMachine).map((each) => named(as, each))
}

/** Finds a model that was called. */
const findModel = async ({ records }: ObservationParts, scope: Scope, text: string): Promise<readonly Finding[]> => {
  const [newest] = await records.list(usageRows, scope, { where: { model: text }, limit: 1 })
  return newest === undefined ? [] : [{ ...named('model', newest), id: text, label: textOf(newest.data.provider) }]
}

/** Finds a user of the project, and users of tenants with the same external id. */
const findUser = async ({ records }: ObservationParts, scope: Scope, text: string): Promise<readonly Finding[]> => {
  const [own, ofTenants] = await Promise.all([
    records.find(endUsers, scope, { external_id: text }),
    records.list(tenantUsers, scope, { where: { external_user_id: text }, limit: maxTenants }),
  ])
  return [...(own === null ? [] : [own]), ...ofTenants].map((row) => ({
    ...named('user', row),
    id: text,
    tenant_id: row.tenant,
    state: textOf(row.data.state),
  }))
}

const named = (kind: Finding['kind'], { id, data, updated_at }: StoredRecord): Finding => ({
  kind,
  id,
  tenant_id: null,
  machine: null,
  state: textOf(data.status),
  label: textOf(data.name) ?? textOf(data.display_name) ?? textOf(data.external_id),
  updated_at: new Date(updated_at).toISOString(),
})

/** An error code, or a tool that failed. */
const findFailure = async (
  { records }: ObservationParts,
  scope: Scope,
  { text, by, kind }: { readonly text: string; readonly by: 'code' | 'tool'; readonly kind: Finding['kind'] },
): Promise<readonly Finding[]> => {
  const [newest] = await records.list(failureRows, scope, { where: { [by]: text }, limit: 1 })
  if (newest === undefined) return []
  const { created_at, data } = newest
  const label = sanitizedText(textOf(data.message) ?? '')
  const updated_at = new Date(created_at).toISOString()
  const state = kind === 'tool' ? textOf(data.code) : null
  return [
    {
      kind,
      id: text,
      tenant_id: null,
      machine: kind === 'tool' ? null : textOf(data.machine),
      state,
      label,
      updated_at,
    },
  ]
}

const findRequest = async ({ records }: ObservationParts, scope: Scope, text: string): Promise<readonly Finding[]> => {
  const lines = await records.list(requestLog, scope, { where: { request_id: text }, limit: 1 })
  return lines.map(({ data, updated_at }) => ({
    kind: 'request',
    id: text,
    tenant_id: null,
    machine: null,
    state: textOf(data.error) ?? String(data.status ?? ''),
    label: [textOf(data.operation), textOf(data.asked_model)].filter((part) => part !== null).join(' · '),
    updated_at: new Date(updated_at).toISOString(),
  }))
}
