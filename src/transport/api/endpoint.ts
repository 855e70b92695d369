import type { Operation } from '../../../specs/declare.ts'
import { operations } from '../../../specs/index.ts'
import { type RequestValidator, requestValidator } from '../../../specs/validate.ts'
import type { Call } from '../../actors/call/call.ts'
import type { UseCases } from '../../actors/call/use-cases.ts'

/**
 * A use-case as the dispatcher sees it. Written as a method, so that TypeScript takes a use-case of any operation: the
 * validator, made from the same declaration as the types, is what guarantees that the call fits.
 */
export type AnyUseCase = { run(call: Call<unknown, unknown, unknown>): Promise<unknown> }['run']

/** All use-cases by operation id. */
export type AnyUseCases = Readonly<Record<string, AnyUseCase>>

/** An operation with all that serving it takes. */
export interface Endpoint {
  readonly operation: Operation
  readonly validator: RequestValidator
  readonly useCase: AnyUseCase
}

/** One endpoint an operation, validators compiled. @throws when an operation has no use-case or an unsound declaration. */
export const endpointsOf = (declared: readonly Operation[], useCases: AnyUseCases): readonly Endpoint[] =>
  declared.map((operation) => {
    const useCase = useCases[operation.id]
    if (useCase === undefined) throw new Error(`${operation.id} is declared but has no use-case`)
    return { operation, validator: requestValidator(operation), useCase }
  })

/** The endpoints of the whole interface. */
export const allEndpoints = (useCases: UseCases): readonly Endpoint[] =>
  endpointsOf(Object.values(operations), useCases)
