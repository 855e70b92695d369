import { nullable, object, string } from './dsl/schema.ts'

/** Why something failed; null when it did not. */
export const errorField = nullable(object({ code: string(), message: string() }))
