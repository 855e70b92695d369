import type { Chart, MachineDefinition } from '#machines/definition.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { OperationId } from '#specs/index.ts'
import type { RecordKind } from '#storage/ports.ts'
import type { AnyUseCase, UseCase } from '../call/use-cases.ts'
import type { AnyKind } from '../records/schema.ts'
import type { EffectCatalog } from '../runtime/effects/effects.ts'
import type { Ledger } from '../runtime/log/ledger.ts'
import type { Sinks } from '../runtime/sinks.ts'
import type { House } from './house.ts'

/** Operations by id, as specs/resources declares them. */
export type DeclaredOperations = Readonly<Record<string, Operation>>

/** A use-case for each of the operations. */
export type UseCasesOf<Ops extends DeclaredOperations> = {
  readonly [Id in keyof Ops & OperationId]: UseCase<Id>
}

/** A machine whose actors the capability owns, and the kind of their list rows; absent when they are in no list. */
export interface OwnedMachine {
  readonly definition: MachineDefinition
  readonly rows?: RecordKind
}

/** A capability at work. */
export interface Opened<Ops extends DeclaredOperations> {
  /** One an operation. */
  readonly useCases: UseCasesOf<Ops>
  /** What its machines request, by `<machine>.<effect>`. */
  readonly effects?: EffectCatalog
  /** Who takes messages that are for no actor, by name. */
  readonly sinks?: Sinks
  /** Ends what it holds open; called when the server ends, after the last request. */
  readonly close?: () => Promise<void>
}

/** One thing that the product can do: what it declares, what it stores, which machines it runs, and how it opens. */
export interface Capability<Ops extends DeclaredOperations = DeclaredOperations> {
  readonly name: string
  readonly operations: Ops
  readonly kinds: readonly AnyKind[]
  readonly machines?: readonly OwnedMachine[]
  /** Charts of lives that are kept inside an actor of its machines. */
  readonly charts?: readonly Chart[]
  /** Rows that follow from commits for good. */
  readonly ledger?: Ledger
  /** Called once a process, in the order of src/actors/capabilities.ts, before any actor runs. */
  readonly open: (house: House) => Opened<Ops>
}

/** A capability of any operations, as the registry folds it. */
export interface AnyCapability extends Omit<Capability, 'open'> {
  open(house: House): Omit<Opened<DeclaredOperations>, 'useCases'> & {
    readonly useCases: Readonly<Record<string, AnyUseCase>>
  }
}

/** Declares a capability; the compiler holds it to one use-case an operation. */
export const capability = <const Ops extends DeclaredOperations>(spec: Capability<Ops>): Capability<Ops> => spec
