import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { coveragePage } from '../../../scripts/generate/coverage.ts'
import { errorsPage } from '../../../scripts/generate/errors-page.ts'
import { mermaidFile } from '../../../scripts/generate/mermaid.ts'
import type { Operation } from '../../../specs/declare.ts'
import { errors } from '../../../specs/errors.ts'
import { interfaceRows } from '../../../specs/interface-rows.ts'
import { operations } from '../../../src/actors/capabilities.ts'
import { sessionDefinition } from '../../../src/machines/session/session-definition.ts'

const declared: readonly Operation[] = Object.values(operations)

describe('the coverage page', () => {
  const row = (tests: string) => {
    const { text } = coveragePage(declared, [{ path: 'test/e2e/a.e2e.test.ts', text: tests }])
    return text.split('\n').find((line) => line.startsWith('| POST /v1/sessions/{id}/turns '))
  }

  it.each(["call('sessions.turns', {})", 'post(`/v1/sessions/$ID/turns`)', "'/api/v1/sessions/ses_1/turns?x=1'"])(
    'names a test that says %s',
    (text) => {
      expect(row(text)).toBe('| POST /v1/sessions/{id}/turns | `sessions.turns` | `test/e2e/a.e2e.test.ts` |')
    },
  )

  it.each(['`/v1/sessions/$ID/turnstile`', '`/v1/sessions/$ID`', 'sessions.turns'])('is not misled by %s', (text) => {
    expect(row(text)).toBe('| POST /v1/sessions/{id}/turns | `sessions.turns` | missing |')
  })

  it('has every row of the interface once', () => {
    const rows = Object.values(interfaceRows).flat()
    expect(new Set(rows).size).toBe(rows.length)
    const { text } = coveragePage([], [])
    expect(text).toContain(`0 of ${rows.length} rows are declared.`)
    expect(text.split('\n').filter((line) => line.endsWith('| missing | |'))).toHaveLength(rows.length)
  })
})

describe('the errors page', () => {
  it('has a line for every code', () => {
    const { text } = errorsPage(declared)
    for (const code of Object.keys(errors)) expect(text).toContain(`| \`${code}\` |`)
    expect(text).toMatch(/`store_unavailable` .* every operation/)
  })
})

describe('a state diagram', () => {
  it('nests regions, starts each of them, and ends final states', () => {
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
