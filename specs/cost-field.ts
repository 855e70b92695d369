import { described, number, optional } from './dsl/schema.ts'

/** Cost of a model call, in the usage of its response. */
export const costUsd = described(optional(number()), 'Cost in USD; absent if the price is unknown.')
