import type { Chart, MachineDefinition } from '#machines/index.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { OperationId } from '#specs/index.ts'
import type { RecordKind } from '#storage/index.ts'
import type { AnyUseCase, UseCase } from '../call/use-cases.ts'
import type { AnyKind } from '../records/schema.ts'
import type { EffectCatalog } from '../runtime/index.ts'
import type { Ledger, Sinks } from '../runtime/internal.ts'
import type { Services } from './services.ts'

/** Operations by id, as specs/resources declares them. */
export type DeclaredOperations = Readonly<Record<string, Operation>>

type UseCasesOf<Ops extends DeclaredOperations> = {
  readonly [Id in keyof Ops & OperationId]: UseCase<Id>
}

/** A machine whose actors the capability owns, and the kind of their list rows; absent when they are in no list. */
interface OwnedMachine {
  readonly definition: MachineDefinition
  readonly rows?: RecordKind
}

export interface Opened<Ops extends DeclaredOperations> {
  /** One use-case per operation. */
  readonly useCases: UseCasesOf<Ops>
  /** Effects of its machines, by `<machine>.<effect>`. */
  readonly effects?: EffectCatalog
  /** Receivers of messages that are not addressed to an actor, by name. */
  readonly sinks?: Sinks
  /** Releases its resources; called when the server shuts down, after the last request. */
  readonly close?: () => Promise<void>
}

/** A feature of the product: its operations, its record kinds, its machines, and how to open it. */
export interface Capability<Ops extends DeclaredOperations = DeclaredOperations> {
  readonly name: string
  readonly operations: Ops
  readonly kinds: readonly AnyKind[]
  readonly machines?: readonly OwnedMachine[]
  /** Charts of lifecycles that are kept inside an actor of its machines. */
  readonly charts?: readonly Chart[]
  /** Permanent rows that follow from commits. */
  readonly ledger?: Ledger
  /** Called once per process, in the order of src/actors/capabilities.ts, before any actor runs. */
  readonly open: (services: Services) => Opened<Ops>
}

/** A capability with any operations, as the registry merges it. */
export interface AnyCapability extends Omit<Capability, 'open'> {
  open(services: Services): Omit<Opened<DeclaredOperations>, 'useCases'> & {
    readonly useCases: Readonly<Record<string, AnyUseCase>>
  }
}

/** Declares a capability; the compiler requires exactly one use-case per operation. */
export const capability = <const Ops extends DeclaredOperations>(spec: Capability<Ops>): Capability<Ops> => spec
