import { describe, expect, it } from 'vitest'
import { type AnyMachineSnapshot, transition } from 'xstate'
import { type ListedAction, paramsOf } from '#runtime/schema.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { outcomeOf } from '../outcome.ts'
import { fresh, machine, walk } from './agent-version-samples.ts'

/** The states of a version, and what it sent to the catalogue on the way. */
interface Path {
  readonly states: readonly string[]
  readonly sent: readonly string[]
}

const maxLength = 6

const sentBy = (actions: readonly ListedAction[]): readonly string[] =>
  actions
    .filter(({ type }) => type === 'send')
    .flatMap((action) => paramsOf.send(action).messages)
    .map(({ event }) => `${event.type} ${event.listings}`)

const accepted = (snapshot: AnyMachineSnapshot, event: StoredEvent): boolean =>
  !/^(ignored|refused)/.test(outcomeOf(machine, snapshot, event))

/** Every path of accepted events up to a length, including each of its beginnings. */
const pathsFrom = (snapshot: AnyMachineSnapshot, path: Path): readonly Path[] => {
  if (path.states.length > maxLength) return [path]
  const further = walk.events
    .filter((event) => accepted(snapshot, event))
    .flatMap((event) => {
      const [next, actions] = transition(machine, snapshot, event)
      return pathsFrom(next, { states: [...path.states, String(next.value)], sent: [...path.sent, ...sentBy(actions)] })
    })
  return [path, ...further]
}

describe('on every path', () => {
  const paths = pathsFrom(fresh(), { states: ['draft'], sent: [] })

  it('a version is published at most once, and never becomes a draft again', () => {
    for (const { states } of paths) {
      const first = states.indexOf('published')
      if (first < 0) continue
      // the result of a test leaves it where it is
      const entered = states.filter((state, at) => state === 'published' && states[at - 1] !== state)
      expect(entered).toHaveLength(1)
      expect(states.slice(first).filter((state) => state === 'draft' || state === 'in_review')).toEqual([])
    }
  })

  it('a retired or deleted version remains so', () => {
    for (const { states } of paths) {
      const after = states.slice(states.indexOf('retired'))
      if (states.includes('retired')) expect(after.every((state) => ['retired', 'deleted'].includes(state))).toBe(true)
      if (states.includes('deleted')) expect(states.indexOf('deleted')).toBe(states.length - 1)
    }
  })

  it('the catalogue is notified to list it and then to remove it, with increasing numbers', () => {
    const words = new Set(paths.map(({ sent }) => sent.join(', ')))
    expect([...words].sort()).toEqual(['', 'list 1', 'list 1, unlist 2'])
  })

  it('it is listed exactly while it can be installed, unless it is deleted', () => {
    for (const { states, sent } of paths) {
      const last = states.at(-1)
      if (last === 'published') expect(sent.at(-1)).toBe('list 1')
      if (last === 'deprecated' || last === 'retired') expect(sent.at(-1)).toBe('unlist 2')
      if (last === 'draft' || last === 'in_review') expect(sent).toEqual([])
    }
  })
})
