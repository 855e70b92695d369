import { nullable, object, string } from './dsl/schema.ts'

/** Reason of a failure; null when there is none. */
export const errorField = nullable(object({ code: string(), message: string() }))
