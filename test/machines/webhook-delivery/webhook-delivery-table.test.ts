import { describe, expect, it } from 'vitest'
import { listRow } from '#machines/list-row.ts'
import { deliveryRetentionMs, retryDelaysMs } from '#machines/webhook-delivery/webhook-delivery.ts'
import { deliveryDefinition } from '#machines/webhook-delivery/webhook-delivery-definition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { outcomeOf, pathOf, restingStates } from '../outcome.ts'
import {
  backoff,
  deletion,
  delivery,
  fails,
  failsForGood,
  fresh,
  machine,
  postponed,
  retained,
  succeeds,
  undeliverable,
} from './webhook-delivery-samples.ts'

const places = {
  'under way': fresh(),
  'under way for the last time': delivery(...retryDelaysMs.flatMap(() => [fails, backoff])),
  waiting: delivery(fails),
  delivered: delivery(succeeds),
  failed: delivery(failsForGood),
  'removing itself': delivery(deletion),
}

const events = {
  'a success': succeeds,
  'a failure': fails,
  'a failure for good': failsForGood,
  'nobody to deliver to': undeliverable,
  'a line that is full': postponed,
  'a deletion': deletion,
  'the end of its wait': backoff,
  'the end of its time when delivered': retained('delivered'),
  'the end of its time when failed': retained('failed'),
} satisfies Record<string, StoredEvent>

type Row = Partial<Record<keyof typeof events, string>>

const attempting: Row = {
  'a success': 'delivered: abort delivery.attempted remind',
  'a failure': 'waiting: abort delivery.attempted remind',
  'a failure for good': 'failed: abort delivery.attempted remind',
  'nobody to deliver to': 'failed: abort remind',
  'a line that is full': 'waiting: abort remind',
  'a deletion': 'erasing: abort eraseDelivery!',
}

/** Events that are not listed are ignored. */
const table: Record<keyof typeof places, Row> = {
  'under way': attempting,
  'under way for the last time': { ...attempting, 'a failure': 'failed: abort delivery.attempted remind' },
  waiting: {
    'the end of its wait': 'attempting: forget attemptDelivery!',
    'a deletion': 'erasing: forget eraseDelivery!',
  },
  delivered: {
    'the end of its time when delivered': 'erasing: forget eraseDelivery!',
    'a deletion': 'erasing: forget eraseDelivery!',
  },
  failed: {
    'the end of its time when failed': 'erasing: forget eraseDelivery!',
    'a deletion': 'erasing: forget eraseDelivery!',
  },
  'removing itself': {},
}

it('covers every state of a delivery', () => {
  const resting = new Set(Object.values(places).map((place) => pathOf(place.value)))
  expect([...resting].sort()).toEqual([...restingStates(machine)].sort())
})

it('covers every event of the machine', () => {
  expect([...new Set(Object.values(events).map((event) => event.type))].sort()).toEqual([...machine.events].sort())
})

describe.each(Object.entries(places))('a delivery that is %s', (place, snapshot) => {
  const row: Readonly<Record<string, string>> = Object.entries(table).find(([name]) => name === place)?.[1] ?? {}
  it.each(Object.entries(events))('handles %s according to the table', (name, event) => {
    expect(outcomeOf(machine, snapshot, event)).toBe(row[name] ?? 'ignored')
  })
})

const second = 1000
const minute = 60 * second
const hour = 60 * minute

it('waits 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h between its eight attempts', () => {
  expect(retryDelaysMs).toEqual([5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour])
})

it.each([0, 0.5, 0.999])('lengthens each wait by up to a tenth, with a jitter of %d', (jitter) => {
  for (const [failures, delay] of retryDelaysMs.entries()) {
    const before = Array.from({ length: failures }, () => [fails, backoff]).flat()
    const { delay_ms } = delivery(...before, { ...fails, jitter }).context
    expect(delay_ms).toBe(delay + Math.round(delay * 0.1 * jitter))
  }
})

it('does not count a postponed attempt, and waits for the time of the postponement', () => {
  expect(delivery(fails, backoff, postponed).context).toMatchObject({ attempts: 1, delay_ms: 7_000 })
  expect(delivery(fails, backoff, postponed, backoff, fails).context).toMatchObject({ attempts: 2, last_status: 500 })
})

it('shows the time of the next attempt while it waits, and none otherwise', () => {
  const facts = { id: 'dlv_1', project: 'prj_a', tenant: null, user: null, createdAt: 5, updatedAt: 1000 }
  const rowAfter = (...given: readonly StoredEvent[]) => listRow(deliveryDefinition, delivery(...given), facts)
  expect(rowAfter({ ...fails, jitter: 0 })).toMatchObject({ status: 'pending', next_attempt_at_ms: 6000, attempts: 1 })
  expect(rowAfter()).toMatchObject({ status: 'pending', next_attempt_at_ms: null, attempts: 0 })
  expect(rowAfter(succeeds)).toMatchObject({ status: 'delivered', next_attempt_at_ms: null, last_status: 204 })
  expect(rowAfter(succeeds, deletion)).toBeNull()
})

it('keeps a delivery for 30 days', () => {
  expect(deliveryRetentionMs).toBe(30 * 24 * hour)
})
