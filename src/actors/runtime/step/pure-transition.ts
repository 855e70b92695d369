import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type ExecutableActionObject,
} from 'xstate'
import type { StoredEvent } from '#storage/ports.ts'

const nothing = (): void => {}

/** A scope with an actor that is never started: XState requires one, but no pure transition uses it. */
const inertScope = (machine: AnyStateMachine): AnyActorScope => {
  const self = createActor(machine)
  return {
    self,
    system: self.system,
    id: '',
    sessionId: '',
    logger: nothing,
    defer: nothing,
    emit: nothing,
    stopChild: nothing,
    actionExecutor: nothing,
  }
}

const scopes = new WeakMap<AnyStateMachine, AnyActorScope>()

/**
 * XState's pure `transition`, with one inert scope per machine instead of one per call: `transition` itself creates an
 * actor and the machine's first snapshot each time, which is half of its cost
 * (specs/decisions/0006-pure-transition.md). A test checks that both return the same snapshots and actions.
 */
export const pureTransition = (
  machine: AnyStateMachine,
  snapshot: AnyMachineSnapshot,
  event: StoredEvent,
): readonly [AnyMachineSnapshot, readonly ExecutableActionObject[]] => {
  const scope = scopes.get(machine) ?? inertScope(machine)
  scopes.set(machine, scope)
  const actions: ExecutableActionObject[] = []
  scope.actionExecutor = (action) => actions.push(action)
  return [machine.transition(snapshot, event, scope), actions]
}
