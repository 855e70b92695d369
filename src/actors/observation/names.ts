import { definitionOf } from '#machines/index.ts'
import type { ResultOf } from '#specs/index.ts'
import { organizationScope, type RecordKind, type Scope, type StoredRecord } from '#storage/index.ts'
import type { Principal } from '../call/call.ts'
import type { Services } from '../capability/services.ts'
import type { ObservationParts } from './list-actors.ts'
import { listedActor, textOf } from './listed-actor.ts'

type Named = ResultOf<'observation.names'>['data'][number]

/** Dependencies of `namesOf`. */
export interface NamesParts extends ObservationParts, Pick<Services, 'kinds'> {}

/** Kinds of records with names, by the prefix of their ids. Members and keys are named to those who operate. */
const kindOfPrefix: Readonly<Record<string, string>> = {
  ...{ agt: 'agents', ten: 'tenants', whk: 'webhooks', kb: 'knowledge_bases', pmpt: 'prompts', skl: 'skills' },
  ...{ grl: 'guardrails', pvc: 'provider_connections', key: 'project_keys', usr: 'members' },
}
const ofOperators: ReadonlySet<string> = new Set(['project_keys', 'members'])

/** Fields that name a record, in order of preference. */
const fields = ['name', 'display_name', 'email', 'external_id']

/** Returns the names of the existing ones among these ids: of actors what they are about, of records their names. */
export const namesOf = async (
  parts: NamesParts,
  { scope, principal }: { readonly scope: Scope; readonly principal: Principal },
  ids: readonly string[],
): Promise<readonly Named[]> => {
  const organization =
    principal.kind === 'dashboard' && (principal.role === 'admin' || principal.role === 'owner')
      ? principal.organization
      : null
  const found = await Promise.all(
    [...Map.groupBy(new Set(ids), prefixOf)].map(async ([prefix, group]): Promise<readonly Named[]> => {
      const definition = definitionOf(parts.definitions, group[0] ?? '')
      if (definition !== undefined) return actorNames(parts, scope, { machine: definition.name, ids: group })
      const kind = parts.kinds.find(({ name }) => name === kindOfPrefix[prefix])
      if (kind === undefined || (ofOperators.has(kind.name) && organization === null)) return []
      const isMembers = kind.name === 'members' && organization !== null
      return recordNames(parts, isMembers ? organizationScope(organization) : scope, { kind, ids: group })
    }),
  )
  return found.flat()
}

const prefixOf = (id: string): string => id.slice(0, id.lastIndexOf('_'))

const actorNames = async (
  { rowsOfMachine, records, headlines }: NamesParts,
  scope: Scope,
  { machine, ids }: { readonly machine: string; readonly ids: readonly string[] },
): Promise<readonly Named[]> => {
  const kind = rowsOfMachine[machine]
  if (kind === undefined) return []
  const rows = await records.getMany(kind, scope, ids)
  const about = await headlines.of(rows)
  return rows.map((row) => {
    const { id, label, state } = listedActor(machine, row, { label: about.get(row.id) ?? null })
    return { id, machine, name: label, state }
  })
}

const recordNames = async (
  { records }: NamesParts,
  scope: Scope,
  { kind, ids }: { readonly kind: RecordKind; readonly ids: readonly string[] },
): Promise<readonly Named[]> => (await records.getMany(kind, scope, ids)).map(recordName)

const recordName = ({ id, data }: StoredRecord): Named => ({
  ...{ id, machine: null, state: null },
  name: fields.map((field) => textOf(data[field])).find((text) => text !== null) ?? null,
})
