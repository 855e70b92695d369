import type { AnyUseCase, AnyUseCases } from '#actors/call/use-cases.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { type RequestValidator, requestValidator } from '#specs/dsl/validate.ts'

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
