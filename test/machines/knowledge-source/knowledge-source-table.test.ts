import { describe, expect, it } from 'vitest'
import { syncDelaysMs } from '#machines/knowledge-source/knowledge-source.ts'
import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import { statusOf } from '#machines/status.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { outcomeOf, pathOf, restingStates } from '../outcome.ts'
import {
  backoff,
  deletion,
  due,
  embedAgain,
  embedBackoff,
  embedFails,
  embeds,
  fails,
  failsForGood,
  fresh,
  machine,
  move,
  schedule,
  source,
  sync,
  syncs,
  unchanged,
} from './knowledge-source-samples.ts'

const places = {
  'being read': fresh(),
  'being read for the last time': source(...syncDelaysMs.flatMap(() => [fails, backoff])),
  'waiting for another attempt': source(fails),
  'given vectors': source(syncs),
  'waiting for vectors': source(syncs, embedFails),
  ready: source(syncs, embeds),
  'ready until its interval is over': source(schedule, syncs, embeds),
  'failed, and given vectors': source(failsForGood),
  'failed, and waiting for vectors': source(failsForGood, embedFails),
  failed: source(failsForGood, embeds),
  'failed until its interval is over': source(schedule, failsForGood, embeds),
  'removing itself': source(deletion),
}

const events = {
  'a sync': syncs,
  'the same content': unchanged,
  'a failure': fails,
  'a failure for good': failsForGood,
  vectors: embeds,
  'an embedder that fails': embedFails,
  'another embedder': embedAgain,
  'a requested sync': sync,
  'an interval': schedule,
  'another URL': move,
  'a deletion': deletion,
  'the end of its wait': backoff,
  'the end of its wait for vectors': embedBackoff('ready'),
  'the end of its wait for vectors when failed': embedBackoff('failed'),
  'the end of its interval when ready': due('ready'),
  'the end of its interval when failed': due('failed'),
} satisfies Record<string, StoredEvent>

type Row = Partial<Record<keyof typeof events, string>>

const again = 'syncing: abort syncSource!'
const gone = 'erasing: abort eraseSource!'

const reading: Row = {
  'a sync': 'ready.embedding: abort source.synced notify! embedSource!',
  'the same content': 'ready.embedding: abort source.unchanged embedSource!',
  'a failure': 'pending: abort source.sync_failed remind',
  'a failure for good': 'failed.embedding: abort source.sync_failed notify! embedSource!',
  'a requested sync': again,
  'an interval': 'syncing',
  'another URL': again,
  'a deletion': gone,
}

/** Events that are not listed are ignored. */
const table: Record<keyof typeof places, Row> = {
  'being read': reading,
  'being read for the last time': {
    ...reading,
    'a failure': 'failed.embedding: abort source.sync_failed notify! embedSource!',
  },
  'waiting for another attempt': {
    'a requested sync': 'syncing: forget syncSource!',
    'an interval': 'pending',
    'another URL': 'syncing: forget syncSource!',
    'a deletion': 'erasing: forget eraseSource!',
    'the end of its wait': 'syncing: forget syncSource!',
  },
  'given vectors': {
    vectors: 'ready.resting',
    'an embedder that fails': 'ready.postponed: remind',
    'a requested sync': again,
    'an interval': 'ready.embedding',
    'another URL': again,
    'a deletion': gone,
  },
  'waiting for vectors': {
    'a requested sync': 'syncing: forget abort syncSource!',
    'an interval': 'ready.postponed',
    'another URL': 'syncing: forget abort syncSource!',
    'a deletion': 'erasing: forget abort eraseSource!',
    'the end of its wait for vectors': 'ready.embedding: forget embedSource!',
  },
  ready: {
    'another embedder': 'ready.embedding: embedSource!',
    'a requested sync': again,
    'an interval': 'ready.scheduled: remind',
    'another URL': again,
    'a deletion': gone,
  },
  'ready until its interval is over': {
    'another embedder': 'ready.embedding: forget embedSource!',
    'a requested sync': 'syncing: forget abort syncSource!',
    'an interval': 'ready.scheduled: forget remind',
    'another URL': 'syncing: forget abort syncSource!',
    'a deletion': 'erasing: forget abort eraseSource!',
    'the end of its interval when ready': 'syncing: forget abort syncSource!',
  },
  'failed, and given vectors': {
    vectors: 'failed.resting',
    'an embedder that fails': 'failed.postponed: remind',
    'a requested sync': again,
    'an interval': 'failed.embedding',
    'another URL': again,
    'a deletion': gone,
  },
  'failed, and waiting for vectors': {
    'a requested sync': 'syncing: forget abort syncSource!',
    'an interval': 'failed.postponed',
    'another URL': 'syncing: forget abort syncSource!',
    'a deletion': 'erasing: forget abort eraseSource!',
    'the end of its wait for vectors when failed': 'failed.embedding: forget embedSource!',
  },
  failed: {
    'another embedder': 'failed.embedding: embedSource!',
    'a requested sync': again,
    'an interval': 'failed.scheduled: remind',
    'another URL': again,
    'a deletion': gone,
  },
  'failed until its interval is over': {
    'another embedder': 'failed.embedding: forget embedSource!',
    'a requested sync': 'syncing: forget abort syncSource!',
    'an interval': 'failed.scheduled: forget remind',
    'another URL': 'syncing: forget abort syncSource!',
    'a deletion': 'erasing: forget abort eraseSource!',
    'the end of its interval when failed': 'syncing: forget abort syncSource!',
  },
  'removing itself': {},
}

it('covers every state of a source', () => {
  const resting = new Set(Object.values(places).map((place) => pathOf(place.value)))
  expect([...resting].sort()).toEqual([...restingStates(machine)].sort())
})

it('covers every event of the machine', () => {
  expect([...new Set(Object.values(events).map((event) => event.type))].sort()).toEqual([...machine.events].sort())
})

describe.each(Object.entries(places))('a source that is %s', (place, snapshot) => {
  const row: Readonly<Record<string, string>> = Object.entries(table).find(([name]) => name === place)?.[1] ?? {}
  it.each(Object.entries(events))('handles %s according to the table', (name, event) => {
    expect(outcomeOf(machine, snapshot, event)).toBe(row[name] ?? 'ignored')
  })
})

it('keeps its earlier document while a sync runs, fails and is given up', () => {
  const states = [source(syncs, sync), source(syncs, sync, fails), source(syncs, sync, failsForGood)]
  expect(states.map((state) => statusOf(sourceDefinition, state))).toEqual(['pending', 'pending', 'failed'])
  for (const { context } of states) expect(context.document).toMatchObject({ chunk_count: 2 })
})

it('gets the vectors of another embedder for its earlier document after its syncs failed', () => {
  const vectors = { embedder: 'other', parts: ['w'], count: 2 }
  const { context, value } = source(syncs, embeds, sync, failsForGood, embeds, embedAgain, {
    type: 'embedded',
    vectors,
  })
  expect([context.vectors, pathOf(value)]).toEqual([vectors, 'failed.resting'])
})
