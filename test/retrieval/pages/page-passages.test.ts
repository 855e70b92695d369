import { expect, it } from 'vitest'
import { pagePassages } from '#retrieval/pages/page-passages.ts'

const part = (start: number, end: number, heading: string | null = null) => ({ start, end, heading })

it('puts parts of a page together until there is enough, and none over a heading', () => {
  const parts = [part(0, 400), part(402, 900), part(902, 1_300), part(1_302, 1_500), part(1_502, 1_600, 'Next')]
  expect(pagePassages(parts)).toEqual([part(0, 1_300), part(1_302, 1_500), part(1_502, 1_600, 'Next')])
})

it('lets no passage grow beyond 2,000 characters', () => {
  expect(pagePassages([part(0, 900), part(902, 2_400)])).toEqual([part(0, 900), part(902, 2_400)])
})
