import type { ChoiceAnswer, JsonAnswer } from './dsl/answer.ts'
import type { Operation, Signature } from './dsl/declare.ts'

/**
 * The resources of the API by the name of their declaration. Each file of specs/resources adds its own (`declare
 * module`), so that the types of all operations are known without a central list. src/actors/capabilities.ts decides
 * which are served.
 *
 * @public declared again by specs/resources
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled in by specs/resources
export interface Resources {}

type Intersected<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never

/** All declared operations by id. */
export type DeclaredInterface = Intersected<Resources[keyof Resources]>

/** Id of a declared operation. */
export type OperationId = keyof DeclaredInterface & string

type SignatureFor<Id extends OperationId> = DeclaredInterface[Id] extends Operation<infer S> ? S : Signature

/** Path parameters of an operation, decoded. */
export type ParamsOf<Id extends OperationId> = SignatureFor<Id>['params']

/** Query of an operation, converted to the declared types, with defaults. */
export type QueryOf<Id extends OperationId> = SignatureFor<Id>['query']

/** Body of an operation, validated, with defaults; undefined when it has none. */
export type BodyOf<Id extends OperationId> = SignatureFor<Id>['body']

/** Declared response of an operation. */
export type AnswerOf<Id extends OperationId> = SignatureFor<Id>['answer']

/** JSON document that an operation returns; never for streams and bytes. */
export type ResultOf<Id extends OperationId> = JsonOf<AnswerOf<Id>>

type JsonOf<A> = A extends JsonAnswer<infer T> ? T : A extends ChoiceAnswer<infer T> ? T : never
