import type { AnyStateMachine } from 'xstate'
import type { MachineDefinition, Migration } from '#machines/definition.ts'
import { vocabulary } from '#machines/vocabulary.ts'
import type { Effect, EffectCatalog } from '../effects/effects.ts'
import { unsupportedIn } from './unsupported.ts'

/** A machine whose actors may have been stored by an earlier version of it. */
export interface VersionedMachine {
  readonly machine: AnyStateMachine
  /** 1, 2, 3 …; raise it when the states or the context change. */
  readonly version: number
  /** `migrations[n]` converts a stored state of version n to version n + 1. */
  readonly migrations: Readonly<Record<number, Migration>>
}

/** Effects by the name of the action that declares them, by the id of the machine. */
export type EffectsOfMachines = Readonly<Record<string, Readonly<Record<string, Effect>>>>

/** A name that is a prefix of ids: lower-case letters and digits. */
const nameShape = /^[a-z][a-z0-9]{0,30}$/

/**
 * Returns the machines as definitions.
 *
 * @throws {TypeError} for a name that ids cannot have or two machines have, an action without work, and parts of a
 *   chart that do not run here.
 */
export const definitionsOf = (
  machines: readonly (AnyStateMachine | VersionedMachine)[],
  effects: EffectsOfMachines,
): readonly MachineDefinition[] => {
  const stray = Object.keys(effects).filter((name) => !machines.some((each) => versioned(each).machine.id === name))
  if (stray.length > 0) throw new TypeError(`no machine has the id ${stray.join(', ')}`)
  const ids = machines.map((each) => versioned(each).machine.id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new TypeError(`two machines have the id ${twice}`)
  return machines.map((each) => definitionOf(versioned(each), effects))
}

/** Returns the effects as the host looks them up. */
export const catalogOf = (effects: EffectsOfMachines): EffectCatalog =>
  Object.fromEntries(
    Object.entries(effects).flatMap(([machine, named]) =>
      Object.entries(named).map(([name, effect]) => [`${machine}.${name}`, effect]),
    ),
  )

const versioned = (each: AnyStateMachine | VersionedMachine): VersionedMachine =>
  'migrations' in each ? each : { machine: each, version: 1, migrations: {} }

const definitionOf = (
  { machine, version, migrations }: VersionedMachine,
  effects: EffectsOfMachines,
): MachineDefinition => {
  const name = machine.id
  if (!nameShape.test(name))
    throw new TypeError(`the id of a machine consists of lower-case letters and digits: ${name}`)
  const own = effects[name] ?? {}
  const missing = declaredActions(machine).filter((action) => own[action] === undefined)
  if (missing.length > 0) throw new TypeError(`${name} has no effect ${missing.join(', ')}`)
  const unsupported = unsupportedIn(machine, own)
  if (unsupported.length > 0) throw new TypeError(`${name} has what does not run here: ${unsupported.join('; ')}`)
  const policies = Object.fromEntries(Object.entries(own).map(([effect, { policy }]) => [effect, policy]))
  return { name, version, migrations, idPrefix: name, machine, effects: policies }
}

/** Names of the actions of a machine's `setup` that are declarations of work: neither XState's own nor shared ones. */
const declaredActions = (machine: AnyStateMachine): readonly string[] =>
  Object.entries(machine.implementations.actions)
    .filter(([name, action]) => !(name in vocabulary) && !(typeof action === 'function' && 'type' in action))
    .map(([name]) => name)
