import { expect, it } from 'vitest'
import { pagePassages } from '#retrieval/pages/page-passages.ts'

const part = (start: number, end: number, heading: string | null = null) => ({ start, end, heading })

it('joins parts of a page up to a minimum length, but not over a heading', () => {
  const parts = [part(0, 400), part(402, 900), part(902, 1_300), part(1_302, 1_500), part(1_502, 1_600, 'Next')]
  expect(pagePassages(parts)).toEqual([part(0, 1_300), part(1_302, 1_500), part(1_502, 1_600, 'Next')])
})

it('limits passages to 2,000 characters', () => {
  expect(pagePassages([part(0, 900), part(902, 2_400)])).toEqual([part(0, 900), part(902, 2_400)])
})
