import { expect, it } from 'vitest'
import { Suspects } from '#runtime/effects/suspects.ts'
import { calm } from '#test/support/virtual-clock.ts'

it('suspects run sixteen at a time in order of arrival, and one that runs alone runs without others', async () => {
  const suspects = new Suspects()
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = (at: number) => () =>
    new Promise<void>((resolve) => {
      begun.push(at)
      ends[at] = resolve
    })
  for (let at = 0; at < 17; at++) void suspects.run('among few', work(at))
  void suspects.run('alone', work(17))
  void suspects.run('among few', work(18))
  await calm()
  expect(begun).toEqual(Array.from({ length: 16 }, (_, at) => at))
  ends[3]?.()
  await calm()
  expect(begun.slice(16)).toEqual([16])
  for (let at = 0; at < 16; at++) ends[at]?.()
  await calm()
  expect(begun.slice(16)).toEqual([16])
  ends[16]?.()
  await calm()
  expect(begun.slice(16)).toEqual([16, 17])
  ends[17]?.()
  await calm()
  expect(begun.slice(16)).toEqual([16, 17, 18])
})

it('a suspect that throws releases its place to the next one', async () => {
  const suspects = new Suspects()
  await expect(suspects.run('alone', () => Promise.reject(new Error('it ended')))).rejects.toThrow('it ended')
  expect(await suspects.run('alone', async () => 'next')).toBe('next')
})
