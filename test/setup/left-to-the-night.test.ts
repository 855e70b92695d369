import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CalledOperations, recordingPath } from '#scripts/test/called-operations.ts'
import { drawn, leftToTheNight, notEachDay, pathOf } from './left-to-the-night.ts'

describe('the files that CI leaves to the night', () => {
  it('run each night, by hand, and where CI names them', () => {
    expect(leftToTheNight({ CI: 'true', EVERY_STORE: '1' })).toEqual([])
  })

  it('run when they have changed', () => {
    const all = leftToTheNight({ BY_DAY: '1' })
    expect(leftToTheNight({ BY_DAY: '1', CHANGED: `README.md\n${all[0]}\n` })).toEqual(all.slice(1))
  })

  it.each(notEachDay)('exist and are named where a reader finds what CI does not test: %s', (file) => {
    expect(existsSync(file)).toBe(true)
    expect(readFileSync('specs/decisions/0329-what-ci-leaves-to-the-night.md', 'utf8')).toContain(
      file.replace(/^test\/|(\.e2e|\.int)?\.test\.ts$/g, ''),
    )
  })

  it.each(Object.entries(drawn))('are drawn beside tests of the same by day: %s', (_, byDay) => {
    const paths = byDay.map(pathOf)
    expect(paths.filter((path) => !existsSync(path) || notEachDay.includes(path))).toEqual([])
    expect(paths.length).toBeGreaterThan(0)
  })

  it('are each in one of four runs, or in none by day', () => {
    const runs = ['0', '1', '2', '3'].map((TEST_SEED) => leftToTheNight({ BY_DAY: '1', TEST_SEED }))
    const times = notEachDay.map((file) => runs.filter((left) => left.includes(file)).length)
    expect(new Set(times)).toEqual(new Set([3, 4]))
    expect(leftToTheNight({ BY_DAY: '1', TEST_SEED: '4' })).toEqual(runs[0])
  })

  it('call no operation that no test by day calls', () => {
    const calls: CalledOperations = JSON.parse(readFileSync(recordingPath, 'utf8'))
    const byDay = new Set(Object.entries(calls).flatMap(([file, ids]) => (notEachDay.includes(file) ? [] : ids)))
    expect(notEachDay.flatMap((file) => (calls[file] ?? []).filter((id) => !byDay.has(id)))).toEqual([])
  })
})
