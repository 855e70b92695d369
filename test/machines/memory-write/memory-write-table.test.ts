import { describe, expect, it } from 'vitest'
import { initialTransition } from 'xstate'
import { after } from '../outcome.ts'
import { reachedIn } from '../reached.ts'
import {
  backoff,
  deletion,
  extracts,
  extractsAndStores,
  fails,
  failsForGood,
  findsNothing,
  machine,
  retention,
  stores,
  walk,
} from './memory-write-samples.ts'

const write = (...events: Parameters<typeof after>[2][]) =>
  after(machine, initialTransition(machine, walk.input)[0], ...events)

describe('a write of memory', () => {
  it.each([
    ['extracting', []],
    ['storing', [extracts]],
    ['success', [extracts, stores]],
    ['success', [extractsAndStores]],
    ['success', [findsNothing]],
    ['success', [fails, backoff, extractsAndStores]],
    ['waiting', [fails]],
    ['extracting', [fails, backoff]],
    ['waiting', [extracts, fails]],
    ['storing', [extracts, fails, backoff]],
    ['error', [failsForGood]],
    ['error', [fails, backoff, fails, backoff, fails, backoff, fails]],
    ['erasing', [extracts, stores, retention('success')]],
    ['erasing', [failsForGood, retention('error')]],
    ['erasing', [deletion]],
  ] as const)('is %s after %j', (state, events) => {
    expect(write(...events).value).toBe(state)
  })

  it('keeps none of the exchange once it is settled', () => {
    for (const settled of [write(extracts, stores), write(extractsAndStores), write(failsForGood)]) {
      expect(settled.context).toMatchObject({ exchange: null, facts: null })
    }
  })

  it.each([
    ['in two steps', [extracts, stores], 1],
    ['in one', [extractsAndStores], 1],
    ['when there was nothing', [findsNothing], 0],
  ] as const)('records what it stored %s', (_how, events, written) => {
    const { context } = write(...events)
    expect(context).toMatchObject({ extracted: written, extractor: 'rules' })
    expect(context.memories).toHaveLength(written)
  })

  it('reaches every state', () => {
    const states = new Set(reachedIn(walk).map(({ value }) => value))
    expect(states).toEqual(new Set(['extracting', 'storing', 'waiting', 'success', 'error', 'erasing']))
  })
})
