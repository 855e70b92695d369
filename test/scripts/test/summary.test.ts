import { describe, expect, it } from 'vitest'
import { resultLine, summarise } from '#scripts/test/summary.ts'

const test = (status: string, fullName = 'a test') => ({ status, fullName })
const file = (status: string, ...assertionResults: object[]) => ({ name: 'a.test.ts', status, assertionResults })
const report = (...testResults: object[]) => JSON.stringify({ testResults })

describe('result of a test run', () => {
  it('counts passed, failed and skipped tests over all files', () => {
    const text = report(
      file('failed', test('passed'), test('failed', 'x fails')),
      file('passed', test('passed'), test('skipped'), test('todo')),
    )
    const summary = summarise(text, 1)
    expect(summary).toEqual({ passed: 2, failed: 1, skipped: 2, failures: ['x fails'], retried: [] })
    expect(resultLine(summary)).toBe('2 passed, 1 failed, 2 skipped')
  })

  it('omits skipped tests from the line if there are none', () => {
    expect(resultLine(summarise(report(file('passed', test('passed'))), 0))).toBe('1 passed, 0 failed')
  })

  it('counts a file that could not be loaded as failed', () => {
    expect(summarise(report(file('failed'), file('passed', test('passed'))), 1)).toMatchObject({ passed: 1, failed: 1 })
  })

  it('lists tests that passed only on a retry', () => {
    const unsteady = { ...test('passed', 'x works'), failureMessages: ['not yet'] }
    const summary = summarise(report(file('passed', unsteady, { ...test('passed'), failureMessages: [] })), 0)
    expect(summary).toMatchObject({ passed: 2, failed: 0, retried: ['x works'] })
  })

  it('counts an error outside every test as failed', () => {
    expect(summarise(report(file('passed', test('passed'))), 1)).toMatchObject({ passed: 1, failed: 1 })
  })

  it('counts a run without a report or without a test as failed', () => {
    expect(summarise(null, 0).failed).toBe(1)
    expect(summarise(report(), 0).failed).toBe(1)
  })
})
