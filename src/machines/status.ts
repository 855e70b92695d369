import type { AnyStateMachine } from 'xstate'
import type { MachineDefinition, StateValue } from './definition.ts'
import type { JsonObject } from './json.ts'
import { leafPath } from './state-value.ts'

/** A status that depends on the context too. `oneOf` lists its values for the chart; `because` says why it does. */
interface DerivedStatus<Context, Status extends string> {
  readonly oneOf: readonly Status[]
  readonly of: (context: Context) => Status | undefined
  readonly because: string
}

/**
 * The part of a state's `meta` that gives the status of the resource in the API. Null: the resource is gone, and is not
 * found any more; this is also the default of a machine's final states. Inner states take the status of the state
 * around them unless they have their own. XState's tag `busy` marks states in which a turn or run is in progress.
 */
export interface Shown<Context, Status extends string> {
  readonly status?: Status | DerivedStatus<Context, Status> | null
}

/** The `status` of a state's `meta`, of any machine; undefined where it has none. */
export type StatusRule = Shown<JsonObject, string>['status']

/** What the API shows in a state. */
interface LeafState {
  readonly status: StatusRule
  readonly isBusy: boolean
}

/**
 * Returns the status of an actor's resource; null once it is gone.
 *
 * @throws {Error} for a state without a status, which a test over all machines excludes.
 */
export const statusOf = <const Status extends string>(
  { machine, statuses }: { readonly machine: AnyStateMachine; readonly statuses: readonly Status[] },
  { value, context }: { readonly value: StateValue; readonly context: JsonObject },
): Status | null => {
  const rule = ruleOf(machine, value)
  if (rule === null) return null
  const status = typeof rule === 'object' ? rule.of(context) : rule
  const declared = statuses.find((each) => each === status)
  if (declared === undefined) throw new Error(`${machine.id} has no status in the state ${leafPath(value)}`)
  return declared
}

/** Whether the resource of an actor in this state is gone and must not be found any more. */
export const isGone = (
  { machine, statuses }: Pick<MachineDefinition, 'machine' | 'statuses'>,
  { value }: { readonly value: StateValue },
): boolean => statuses !== undefined && ruleOf(machine, value) === null

/** Whether a turn or run is in progress in this state: streams of the actor stay open. */
export const isBusy = (
  { machine }: Pick<MachineDefinition, 'machine'>,
  { value }: { readonly value: StateValue },
): boolean => activeLeaves(machine, value).some((leaf) => leaf?.isBusy)

const ruleOf = (machine: AnyStateMachine, value: StateValue): StatusRule =>
  activeLeaves(machine, value).find((leaf) => leaf?.status !== undefined)?.status

const activeLeaves = (machine: AnyStateMachine, value: StateValue) => {
  const [leaves, path] = [leavesOf(machine), leafPath(value)]
  const only = leaves.get(path)
  return only === undefined ? path.split(' ').map((each) => leaves.get(each)) : [only]
}

const known = new WeakMap<AnyStateMachine, ReadonlyMap<string, LeafState>>()

/** Returns what the API shows in each innermost state of a machine, by the state's path. */
export const leavesOf = (machine: AnyStateMachine): ReadonlyMap<string, LeafState> => {
  const found = known.get(machine) ?? new Map(leavesBelow(machine.root, { status: undefined, isBusy: false }))
  known.set(machine, found)
  return found
}

type StateNode = AnyStateMachine['root']

const leavesBelow = (node: StateNode, outer: LeafState): readonly (readonly [string, LeafState])[] => {
  const meta: Shown<JsonObject, string> = node.meta ?? {}
  const ends = node.type === 'final' && node.parent === node.machine.root
  const status = meta.status !== undefined ? meta.status : ends ? null : outer.status
  const here = { status, isBusy: outer.isBusy || node.tags.includes('busy') }
  const inner = Object.values(node.states)
  return inner.length === 0 ? [[node.path.join('.'), here]] : inner.flatMap((each) => leavesBelow(each, here))
}
