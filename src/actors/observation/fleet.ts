import type { AnyStateMachine, AnyStateNode } from 'xstate'
import type { ResultOf } from '#specs/index.ts'
import type { CommitStore, Scope, StoredRecord } from '#storage/index.ts'
import { edgeCounts, failuresByMachine } from './failure-groups.ts'
import { type ListedMachine, listedMachines, type ObservationParts } from './list-actors.ts'

type Machine = ResultOf<'observation.fleet'>['data'][number]
type State = Machine['states'][number]

/** Number of a state's newest actors from which its percentiles are computed. */
const sample = 100

/** Time of which steps are counted as flows, in ms; most actors of a machine whose steps are, and of the steps of each. */
const flowMs = 60_000
const [flowingActors, flowingSteps] = [50, 60]

type FleetParts = ObservationParts & { readonly commits: Pick<CommitStore, 'ofActor'> }

/** Returns all listed machines, with their actors counted by state and their steps of the last minute. */
export const fleet = async (parts: FleetParts, scope: Scope): Promise<readonly Machine[]> => {
  await parts.host.rows.shown()
  const failures = await failuresByMachine(parts, scope)
  return Promise.all(
    listedMachines(parts).map(async ({ definition, rows }) => {
      const counted = await Promise.all(
        leavesOf(definition.machine).map((leaf) => stateOf(parts, scope, { machine: { definition, rows }, leaf })),
      )
      return {
        machine: definition.name,
        version: definition.version,
        failures_24h: failures.get(definition.name)?.count ?? 0,
        failing_edges: failures.get(definition.name)?.edges ?? [],
        flows: await flowsOf(
          parts,
          counted.flatMap(({ newest }) => newest),
        ),
        states: counted.map(({ state }) => state),
      }
    }),
  )
}

/** The steps of the last minute between two states, of the actors among these that made one. */
const flowsOf = async ({ commits, now }: FleetParts, rows: readonly StoredRecord[]): Promise<Machine['flows']> => {
  const since = now() - flowMs
  const moving = rows.filter(({ updated_at }) => updated_at > since).sort((a, b) => b.updated_at - a.updated_at)
  const read = moving
    .slice(0, flowingActors)
    .map(({ id, version }) => commits.ofActor(id, Math.max(0, version - flowingSteps), flowingSteps))
  const moves = (await Promise.all(read)).flat().flatMap(({ at, moved }) => (at > since && moved ? [moved] : []))
  return edgeCounts(moves)
}

/** A state in which an actor can rest. */
interface Leaf {
  readonly path: string
  readonly final: boolean
}

/** The leaf states of a machine, in its order. */
const leavesOf = (machine: AnyStateMachine): readonly Leaf[] => inside(machine.root)

const inside = (node: AnyStateNode): readonly Leaf[] => {
  const states: readonly AnyStateNode[] = Object.values(node.states)
  if (states.length === 0) return [{ path: node.path.join('.'), final: node.type === 'final' }]
  return states.flatMap(inside)
}

const stateOf = async (
  { records, now }: ObservationParts,
  scope: Scope,
  { machine: { rows }, leaf }: { readonly machine: ListedMachine; readonly leaf: Leaf },
): Promise<{ readonly state: State; readonly newest: readonly StoredRecord[] }> => {
  const where = { actor_state: leaf.path }
  const { count: actors, is: actors_are } = await records.total(rows, scope, where)
  const newest = actors === 0 ? [] : await records.list(rows, scope, { where, limit: sample })
  const times = newest
    .map(({ created_at, updated_at }) => (leaf.final ? updated_at - created_at : now() - updated_at))
    .sort((a, b) => a - b)
  const at = (part: number): number | null => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? null
  const state = { state: leaf.path, final: leaf.final, actors, actors_are, p50_ms: at(0.5), p95_ms: at(0.95) }
  return { state, newest }
}
