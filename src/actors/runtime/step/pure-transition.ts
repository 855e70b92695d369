import { type AnyActorScope, type AnyMachineSnapshot, type AnyStateMachine, createActor } from 'xstate'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import type { ListedAction } from '../schema.ts'
import {
  type CompiledAction,
  type CompiledChart,
  compiledAction,
  compiledChart,
  type Place,
  type Way,
} from './compiled-chart.ts'

/** The next snapshot, and the actions that the step lists. */
export type Transition = readonly [AnyMachineSnapshot, readonly ListedAction[]]

const nothing = (): void => {}

/** Number of microsteps of one event after which a chart counts as one that never comes to rest; a chart may have fewer. */
const maxMicrosteps = 10_000

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

/** What is made once per machine. */
interface Prepared {
  readonly scope: AnyActorScope
  readonly chart: CompiledChart | undefined
  /** Maximum number of microsteps of one event. */
  readonly limit: number
}

const machines = new WeakMap<AnyStateMachine, Prepared>()

const prepared = (machine: AnyStateMachine): Prepared => {
  let made = machines.get(machine)
  if (made === undefined) {
    const limit = Math.min(machine.options.maxIterations ?? maxMicrosteps, maxMicrosteps)
    made = { scope: inertScope(machine), chart: compiledChart(machine), limit }
    // XState has no limit of its own: such a chart would stop every actor of the process
    machine.options.maxIterations = limit
    machines.set(machine, made)
  }
  return made
}

/**
 * XState's pure `initialTransition`, with one inert scope per machine: `initialTransition` itself creates an actor each
 * time, whose own first snapshot fails for lack of input.
 */
export const pureInitial = (machine: AnyStateMachine, input: JsonObject): Transition =>
  listing(prepared(machine).scope, (scope) => machine.getInitialSnapshot(scope, input))

/**
 * XState's pure `transition`, by the compiled chart (compiled-chart.ts), or by XState's own algorithm with one inert
 * scope per machine where the chart is not compiled or the event is one of XState's own
 * (specs/decisions/0006-pure-transition.md). A test checks that all return the same snapshots and actions.
 */
export const pureTransition = (
  machine: AnyStateMachine,
  snapshot: AnyMachineSnapshot,
  event: StoredEvent,
): Transition => {
  const { scope, chart, limit } = prepared(machine)
  const isCompiled = chart !== undefined && snapshot.status === 'active' && !isOfXState(event.type)
  return isCompiled
    ? new CompiledStep(chart, scope, { snapshot, event }).taken(limit)
    : listing(scope, () => machine.transition(snapshot, event, scope))
}

/** An event that XState treats specially; those of delays are not. */
const isOfXState = (type: string): boolean => type.startsWith('xstate.') && !type.startsWith('xstate.after.')

const listing = (scope: AnyActorScope, step: (scope: AnyActorScope) => AnyMachineSnapshot): Transition => {
  const actions: ListedAction[] = []
  scope.actionExecutor = (action) => actions.push(action)
  return [step(scope), actions]
}

const noSpawning = (): never => {
  throw new TypeError('an actor of this runtime spawns no others')
}

interface SnapshotAndEvent {
  readonly snapshot: AnyMachineSnapshot
  readonly event: StoredEvent
}

/** One macrostep: the transition of an event, and the eventless and raised ones that follow from it. */
class CompiledStep {
  readonly #scope: AnyActorScope
  readonly #listed: ListedAction[] = []
  readonly #raised: StoredEvent[] = []
  #snapshot: AnyMachineSnapshot
  #context: JsonObject
  #place: Place
  #event: StoredEvent

  constructor(chart: CompiledChart, scope: AnyActorScope, { snapshot, event }: SnapshotAndEvent) {
    this.#scope = scope
    this.#snapshot = snapshot
    this.#context = snapshot.context
    this.#place = placeOf(chart, snapshot)
    this.#event = event
  }

  /** @throws {Error} when more than `limit` microsteps follow. */
  taken(limit: number): Transition {
    this.#receive(this.#event)
    let mayFollow = true
    for (let left = limit; this.#snapshot.status === 'active'; left--) {
      if (left === 0) throw new Error(`Infinite loop detected: ${this.#event.type} leads to no stable state`)
      const before = this.#snapshot
      const way = mayFollow ? this.#chosen(this.#place.always) : undefined
      if (way !== undefined) {
        this.#take(way)
        mayFollow = this.#snapshot !== before
        continue
      }
      const raised = this.#raised.shift()
      if (raised === undefined) break
      this.#receive(raised)
      mayFollow = true
    }
    return [this.#snapshot, this.#listed]
  }

  #receive(event: StoredEvent): void {
    this.#event = event
    const way = this.#chosen(this.#place.on.get(event.type))
    if (way !== undefined) this.#take(way)
  }

  #chosen(ways: readonly Way[] | undefined): Way | undefined {
    if (ways === undefined) return undefined
    for (const way of ways) if (way.guard === undefined || way.guard(this.#context, this.#event)) return way
    return undefined
  }

  #take({ actions, to }: Way): void {
    for (const action of actions) this.#run(action)
    if (to === undefined) this.#snapshot = this.#current()
    else {
      this.#place = to
      this.#snapshot = { ...to.snapshot, context: this.#context }
    }
  }

  #current(): AnyMachineSnapshot {
    const snapshot = this.#snapshot
    return snapshot.context === this.#context ? snapshot : { ...snapshot, context: this.#context }
  }

  #run({ type, params: written, builtin }: CompiledAction): void {
    const context = this.#context
    const event = this.#event
    const params = typeof written === 'function' ? written({ context, event }) : written
    if (builtin === undefined) {
      this.#listed.push({ type, params })
      return
    }
    const { self, system } = this.#scope
    if (typeof builtin.assignment === 'function') {
      const next = builtin.assignment({ context, event, spawn: noSpawning, self, system }, params)
      this.#context = { ...context, ...next }
      return
    }
    const extra = { internalQueue: this.#raised, deferredActorIds: undefined }
    const at = { context, event, self, system }
    const [snapshot, resolved, more = []] = builtin.resolve(this.#scope, this.#current(), at, params, builtin, extra)
    this.#context = snapshot.context
    if (builtin.execute !== undefined) this.#listed.push({ type, params: resolved })
    for (const action of more) this.#run(compiledAction(snapshot.machine, action))
  }
}

const placeOf = (chart: CompiledChart, { _nodes }: AnyMachineSnapshot): Place => {
  for (const node of _nodes) {
    const place = chart.get(node)
    if (place !== undefined) return place
  }
  throw new TypeError('the snapshot is of another machine')
}
