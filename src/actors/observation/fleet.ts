import type { AnyStateMachine, AnyStateNode } from 'xstate'
import type { ResultOf } from '#specs/index.ts'
import type { Scope } from '#storage/index.ts'
import { failuresByMachine } from './failure-groups.ts'
import { type ListedMachine, listedMachines, type ObservationParts } from './list-actors.ts'

type Machine = ResultOf<'observation.fleet'>['data'][number]
type State = Machine['states'][number]

/** Number of a state's newest actors from which its percentiles are computed. */
const sample = 100

/** Returns all listed machines, with their actors counted by state. */
export const fleet = async (parts: ObservationParts, scope: Scope): Promise<readonly Machine[]> => {
  await parts.host.rows.shown()
  const failures = await failuresByMachine(parts, scope)
  return Promise.all(
    listedMachines(parts).map(async ({ definition, rows }) => ({
      machine: definition.name,
      version: definition.version,
      failures_24h: failures.get(definition.name)?.count ?? 0,
      failing_edges: failures.get(definition.name)?.edges ?? [],
      states: await Promise.all(
        leavesOf(definition.machine).map((leaf) => stateOf(parts, scope, { machine: { definition, rows }, leaf })),
      ),
    })),
  )
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
): Promise<State> => {
  const where = { actor_state: leaf.path }
  const { count: actors, is: actors_are } = await records.total(rows, scope, where)
  const newest = actors === 0 ? [] : await records.list(rows, scope, { where, limit: sample })
  const times = newest
    .map(({ created_at, updated_at }) => (leaf.final ? updated_at - created_at : now() - updated_at))
    .sort((a, b) => a - b)
  const at = (part: number): number | null => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? null
  return { state: leaf.path, final: leaf.final, actors, actors_are, p50_ms: at(0.5), p95_ms: at(0.95) }
}
