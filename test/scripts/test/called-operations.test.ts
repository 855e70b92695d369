import { describe, expect, it } from 'vitest'
import {
  calledIn,
  mergedRecording,
  recordingFindings,
  recordingNotes,
  recordingText,
} from '#scripts/test/called-operations.ts'

const kept = { 'test/a.test.ts': ['agents.get'], 'test/b.test.ts': ['agents.list', 'runs.get'] }

describe('the recording of operations called by tests', () => {
  it('has each declared operation of a file once, and no undeclared route', () => {
    const lines =
      'test/b.test.ts\truns.get\ntest/a.test.ts\tnone\ntest/b.test.ts\tagents.list\ntest/b.test.ts\truns.get\n'
    expect(calledIn(lines, ['agents.list', 'runs.get'])).toEqual({ 'test/b.test.ts': ['agents.list', 'runs.get'] })
  })

  it('replaces the entries of files that passed, and drops those of deleted files', () => {
    const called = { 'test/b.test.ts': ['runs.get'] }
    const all = { passed: ['test/b.test.ts'], exists: () => true }
    expect(mergedRecording(kept, called, all)).toEqual({ ...kept, ...called })
    expect(mergedRecording(kept, called, { ...all, passed: [] })).toEqual(kept)
    expect(mergedRecording(kept, called, { ...all, exists: (file) => file !== 'test/a.test.ts' })).toEqual(called)
  })

  it('is written with one line per file, and can be read back', () => {
    expect(recordingText(kept).split('\n')).toHaveLength(5)
    expect(JSON.parse(recordingText(kept))).toEqual(kept)
  })

  it('is reported if it has an operation that no test calls any more', () => {
    const called = { 'test/a.test.ts': ['agents.get', 'agents.list', 'runs.cancel'] }
    expect(recordingFindings(kept, kept)).toEqual([])
    expect(recordingFindings(kept, called)).toEqual([expect.stringMatching(/names runs\.get, and no test/)])
  })

  it('gets a note for an operation that it lacks', () => {
    const called = { 'test/a.test.ts': ['agents.get', 'agents.list', 'runs.cancel', 'runs.get'] }
    expect(recordingNotes(kept, kept)).toEqual([])
    expect(recordingNotes(kept, called)).toEqual([expect.stringMatching(/does not name runs\.cancel/)])
  })

  it('is not reported if other tests call an operation', () => {
    expect(recordingFindings(kept, { 'test/c.test.ts': ['agents.get', 'agents.list', 'runs.get'] })).toEqual([])
  })
})
