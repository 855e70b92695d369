import { expect, it } from 'vitest'
import { conceptsOf } from '#retrieval/analysis/analysis.ts'
import { Titles } from '#retrieval/titles.ts'
import { minCpuMs } from '#test/support/min-cpu-ms.ts'

const chinese = Array.from({ length: 20_000 }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7919) % 8_000))).join('')
const english = Array.from({ length: 3_000 }, (_, at) => `word${at % 900}`).join(' ')

it('a question of 20,000 characters has at most 5,000 words, and each counts as often as it is there', () => {
  expect(conceptsOf(chinese, ['en'])).toHaveLength(5_000)
  const [first] = conceptsOf(english, ['en'])
  expect(first).toMatchObject({ word: 'word0', times: 4 })
})

it('a long question that has words of 10,000 titles does not hold the event loop, and still finds the rare ones', () => {
  const titles = new Titles()
  for (let group = 0; group < 10_000; group++) {
    const words = Array.from({ length: 6 }, (_, at) => `word${(group * 31 + at * 7) % 900}`)
    titles.set(group, words.join(' '))
  }
  titles.set(10_000, 'word1 harbour')
  const question = `${english} harbour`
  const concepts = conceptsOf(question, ['en'])
  expect(minCpuMs(() => titles.fitsOf(question, concepts))).toBeLessThan(50)
  expect(titles.fitsOf(question, concepts).get(10_000)).toBeGreaterThan(0.2)
  expect(minCpuMs(() => conceptsOf(chinese, ['en']))).toBeLessThan(50)
})
