import type { AnyUseCase, AnyUseCases } from '#actors/call/use-cases.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { type RequestValidator, requestValidator } from '#specs/dsl/validate.ts'

/** An operation with its validator and its use-case. */
export interface Endpoint {
  readonly operation: Operation
  readonly validator: RequestValidator
  readonly useCase: AnyUseCase
}

/**
 * Creates one endpoint per operation and compiles validators.
 *
 * @throws when an operation has no use-case or an invalid declaration.
 */
export const endpointsOf = (declared: readonly Operation[], useCases: AnyUseCases): readonly Endpoint[] =>
  declared.map((operation) => {
    const useCase = useCases[operation.id]
    if (useCase === undefined) throw new Error(`${operation.id} is declared but has no use-case`)
    return { operation, validator: requestValidator(operation), useCase }
  })
