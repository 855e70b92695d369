import type { AnyStateMachine } from 'xstate'
import type { Chart } from '#machines/definition.ts'
import type { Json, JsonObject } from '#specs/dsl/json.ts'
import type { GeneratedFile } from './generated-file.ts'

type StateNode = AnyStateMachine['root']
type Transition = StateNode['always'] extends readonly (infer T)[] | undefined ? T : never

/**
 * `specs/machines/<name>.json`: the machine as an XState config in JSON, for Stately's editor. Guards, actions and
 * delays are names there; `createMachine` accepts it.
 */
export const machineJsonFile = ({ name, machine }: Chart): GeneratedFile => ({
  path: `specs/machines/${name}.json`,
  text: `${JSON.stringify({ id: machine.id, ...stateOf(machine.root) }, null, 2)}\n`,
})

const stateOf = (node: StateNode): JsonObject => {
  const { config, initial, type } = node
  const inner: readonly StateNode[] = Object.values(node.states)
  const events = [...node.transitions].filter(([event]) => delayOf(event, node) === null)
  const delays = [...node.transitions].flatMap(([event, transitions]) => {
    const delay = delayOf(event, node)
    return delay === null ? [] : [[delay, transitions] as const]
  })
  const status = config.meta?.status
  return {
    ...((type === 'final' || type === 'parallel') && { type }),
    ...(type === 'compound' && { initial: initial?.target?.[0]?.key ?? null }),
    ...(node.tags.length > 0 && { tags: [...node.tags] }),
    ...(status !== undefined && {
      meta: { status: status?.oneOf === undefined ? status : { oneOf: [...status.oneOf] } },
    }),
    ...listed('entry', actionsOf(config.entry)),
    ...listed('exit', actionsOf(config.exit)),
    ...listed('always', (node.always ?? []).map(transitionOf)),
    ...keyed('after', delays),
    ...keyed('on', events),
    ...(inner.length > 0 && { states: Object.fromEntries(inner.map((each) => [each.key, stateOf(each)])) }),
  }
}

const listed = (name: string, values: readonly Json[]): JsonObject => (values.length > 0 ? { [name]: values } : {})

const keyed = (name: string, entries: readonly (readonly [string, readonly Transition[]])[]): JsonObject =>
  entries.length > 0
    ? { [name]: Object.fromEntries(entries.map(([key, transitions]) => [key, transitions.map(transitionOf)])) }
    : {}

/** The delay of a delayed transition by its event, which XState names `xstate.after.<delay>.<state id>`. */
const delayOf = (event: string, node: StateNode): string | null =>
  event.startsWith('xstate.after.') ? event.slice('xstate.after.'.length, -(node.id.length + 1)) : null

const transitionOf = ({ target, guard, actions, reenter }: Transition): JsonObject => ({
  ...(target !== undefined && { target: target.map(({ id }) => `#${id}`) }),
  ...(guard !== undefined && { guard: named(guard) }),
  ...listed('actions', actionsOf(actions)),
  ...(reenter && { reenter }),
})

const actionsOf = (actions: unknown): readonly JsonObject[] =>
  actions === undefined ? [] : [actions].flat().map((action) => ({ type: named(action) }))

/** Name of a guard or action; XState's own actions, such as `xstate.assign`, are functions with a type. */
const named = (value: unknown): string => {
  if (typeof value === 'string') return value
  const isNamed = (typeof value === 'object' || typeof value === 'function') && value !== null && 'type' in value
  if (isNamed && typeof value.type === 'string') return value.type
  throw new Error('a guard or action has no name')
}
