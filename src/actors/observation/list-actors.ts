import { definitionOf, type MachineDefinition } from '#machines/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { coveredWhere, type JsonObject, narrowedScope, type RecordKind, type Scope } from '#storage/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { filteredPage } from '../records/filtered-page.ts'
import { pageOf } from '../records/pages.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { type Host, idFloor } from '../runtime/internal.ts'
import { newestFailures } from './failure-groups.ts'
import { type FailureData, failurePrefix, failureRows } from './failures.ts'
import type { Headlines } from './headlines.ts'
import { type ListedActor, listedActor } from './listed-actor.ts'

/** Dependencies of the use-cases of observation. */
export interface ObservationParts extends Pick<Services, 'definitions' | 'now' | 'records' | 'rowsOfMachine'> {
  readonly headlines: Pick<Headlines, 'of'>
  readonly host: Pick<Host, 'find' | 'load'> & { readonly rows: Pick<Host['rows'], 'shown'> }
}

type ListCall = Parameters<UseCases['observation.actors']>[0]
type Listed = ResultOf<'observation.actors'>

/** A machine with list rows. */
export interface ListedMachine {
  readonly definition: MachineDefinition
  readonly rows: RecordKind
}

/** All machines with list rows. */
export const listedMachines = ({
  definitions,
  rowsOfMachine,
}: Pick<ObservationParts, 'definitions' | 'rowsOfMachine'>): readonly ListedMachine[] =>
  definitions.flatMap((definition) => {
    const rows = rowsOfMachine[definition.name]
    return rows === undefined ? [] : [{ definition, rows }]
  })

/**
 * Returns one page of a project's actors, newest first. @throws {ServiceError} `invalid_query` for a machine without
 * list rows.
 */
export const listActors = async (parts: ObservationParts, { scope, query }: ListCall): Promise<Listed> => {
  const { error, tool, machine = 'session', tenant_id, state, activity, agent_id } = query
  const within = narrowedScope(scope, { tenant: tenant_id ?? null, user: null })
  await parts.host.rows.shown()
  if (error !== undefined || tool !== undefined) return listFailed(parts, within, query)
  const found = listedMachines(parts).find(({ definition }) => definition.name === machine)
  if (found === undefined)
    throw new ServiceError('invalid_query', { param: 'machine', message: 'No machine of this name has a list.' })
  const { definition, rows } = found
  const wanted = Object.entries({ actor_state: state, actor_activity: activity, agent_id }).flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value] as const],
  )
  const where = coveredWhere(rows, within, Object.fromEntries(wanted))
  const matches = ({ data }: Row<JsonObject>) => wanted.every(([field, value]) => data[field] === value)
  const table = new Table<JsonObject>(parts.records, rows, parts.now)
  const page = { limit: query.limit, cursor: query.cursor, ...timesOf(definition.idPrefix, query) }
  const { data, next_cursor } = await filteredPage(table, definition, {
    cover: { scope: within, where, matches },
    page,
  })
  const failed = Map.groupBy(await newestFailures(parts, within), (failure) => failure.data.actor)
  const about = await parts.headlines.of(data)
  const shown = data.map((row) =>
    listedActor(definition.name, row, {
      failures: failed.get(row.id)?.length ?? 0,
      label: about.get(row.id) ?? null,
    }),
  )
  return { data: shown, next_cursor }
}

/** Bounds of the ids that were created in a time range. */
const timesOf = (prefix: string, { from, to }: ListCall['query']) => ({
  ...(from !== undefined && { floor: idFloor(prefix, Date.parse(from)) }),
  ...(to !== undefined && { ceiling: idFloor(prefix, Date.parse(to)) }),
})

/** Lists actors by the code or the tool of their failures, newest failure first; each actor is listed once per page. */
const listFailed = async (parts: ObservationParts, scope: Scope, query: ListCall['query']): Promise<Listed> => {
  const table = new Table<FailureData>(parts.records, failureRows, parts.now)
  const { limit, cursor, error, tool } = query
  const where = error === undefined ? { tool: tool ?? '' } : { code: error }
  const page = await pageOf(table, scope, {
    query: { limit, cursor, where, ...timesOf(failurePrefix, query) },
    shown: { idPrefix: failurePrefix, view: ({ data }) => data },
  })
  const found = page.data.filter((failure) => tool === undefined || failure.tool === tool)
  const byActor = Map.groupBy(found, ({ actor }) => actor)
  const actors = await Promise.all([...byActor.values()].map((failures) => actorOf(parts, scope, failures)))
  const fits = (actor: ListedActor): boolean =>
    (query.machine === undefined || actor.machine === query.machine) &&
    (query.state === undefined || actor.state === query.state) &&
    (query.activity === undefined || actor.activity === query.activity) &&
    (query.agent_id === undefined || actor.agent_id === query.agent_id)
  return { data: actors.filter((actor) => actor !== null).filter(fits), next_cursor: page.next_cursor }
}

const actorOf = async (
  { definitions, rowsOfMachine, records, headlines }: ObservationParts,
  scope: Scope,
  failures: readonly FailureData[],
): Promise<ListedActor | null> => {
  const { actor = '', code = null } = failures[0] ?? {}
  const definition = definitionOf(definitions, actor)
  const kind = definition && rowsOfMachine[definition.name]
  const row = kind ? await records.get(kind, scope, actor) : null
  if (definition === undefined || !row) return null
  const label = (await headlines.of([row])).get(row.id) ?? null
  return listedActor(definition.name, row, { error: code, failures: failures.length, label })
}
