import { described, number, optional } from './dsl/schema.ts'

/** What a model call cost, in the usage of its answer. */
export const costUsd = described(optional(number()), 'Cost in USD; absent if the price is unknown.')
