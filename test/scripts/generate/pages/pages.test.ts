import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { operations } from '#actors/capabilities.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { mermaidFile } from '#scripts/generate/mermaid.ts'
import { coveragePage } from '#scripts/generate/pages/coverage.ts'
import { errorsPage } from '#scripts/generate/pages/errors-page.ts'
import type { CalledOperations } from '#scripts/test/called-operations.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { errors } from '#specs/errors/errors.ts'
import { interfaceRows } from '#specs/interface-rows.ts'

const declared: readonly Operation[] = Object.values(operations)

describe('the coverage page', () => {
  const row = (called: CalledOperations) => {
    const { text } = coveragePage(declared, called)
    return text.split('\n').find((line) => line.startsWith('| POST /v1/sessions/{id}/turns '))
  }

  it('lists at most three tests that got an answer of an operation', () => {
    const called = ['sessions.create', 'sessions.turns']
    expect(row({ 'test/a.test.ts': called, 'test/b.test.ts': ['sessions.create'] })).toBe(
      '| POST /v1/sessions/{id}/turns | `sessions.turns` | `test/a.test.ts` |',
    )
    const many = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`test/${name}.test.ts`, called]))
    expect(row(many)).toContain('| `test/a.test.ts`, `test/b.test.ts`, `test/c.test.ts` … |')
  })

  it('marks an operation without a test as missing', () => {
    expect(row({ 'test/a.test.ts': ['sessions.create'] })).toBe(
      '| POST /v1/sessions/{id}/turns | `sessions.turns` | missing |',
    )
  })

  it('has every row of the API once', () => {
    const rows = Object.values(interfaceRows).flat()
    expect(new Set(rows).size).toBe(rows.length)
    const { text } = coveragePage([], {})
    expect(text).toContain(`0 of ${rows.length} rows are declared.`)
    expect(text.split('\n').filter((line) => line.endsWith('| missing | |'))).toHaveLength(rows.length)
  })
})

describe('the errors page', () => {
  it('has a line for every error code', () => {
    const { text } = errorsPage(declared)
    for (const code of Object.keys(errors)) expect(text).toContain(`| \`${code}\` |`)
    expect(text).toMatch(/`store_unavailable` .* every operation/)
  })
})

describe('a state diagram', () => {
  it('nests regions, with an initial mark for each and an end mark for final states', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'open',
      states: {
        open: { initial: 'idle', states: { idle: { on: { go: 'busy' } }, busy: {} }, on: { close: 'closed' } },
        closed: { type: 'final' },
      },
    })
    const { text, path } = mermaidFile({ ...sessionDefinition, name: 'm', version: 2, machine })
    expect(path).toBe('specs/machines/m.mmd')
    expect(text.split('\n').slice(1)).toEqual([
      'stateDiagram-v2',
      '  [*] --> open',
      '  state "open" as open {',
      '    [*] --> open__idle',
      '    state "idle" as open__idle',
      '    state "busy" as open__busy',
      '  }',
      '  state "closed" as closed',
      '  closed --> [*]',
      '  open --> closed : close',
      '  open__idle --> open__busy : go',
      '',
    ])
  })
})
