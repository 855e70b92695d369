import type { EstatePart } from './estate-part.ts'

/** The estate of usage. */
export const usage: EstatePart = {
  shownBy: { 'usage.summary days': 'test/actors/usage/usage-range.test.ts' },
}
