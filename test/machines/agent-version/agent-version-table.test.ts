import { describe, expect, it } from 'vitest'
import { transition } from 'xstate'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { listRow } from '#machines/list-row.ts'
import { isGone } from '#machines/status.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { outcomeOf, pathOf, restingStates } from '../outcome.ts'
import {
  approve,
  deletion,
  deprecate,
  fresh,
  machine,
  publish,
  reject,
  retire,
  submit,
  tested,
  version,
} from './agent-version-samples.ts'

const places = {
  'a draft': fresh(),
  'a draft that was tested': version(tested),
  'a draft after a rejection': version(submit, reject),
  'in review': version(submit),
  published: version(publish),
  deprecated: version(publish, deprecate),
  retired: version(publish, retire),
  'retired after a deprecation': version(publish, deprecate, retire),
  deleted: version(deletion),
}

const events = {
  tested,
  submit,
  approve,
  reject,
  publish,
  deprecate,
  retire,
  deletion,
} satisfies Record<string, StoredEvent>

type Row = Partial<Record<keyof typeof events, string>>

const deletes = { deletion: 'deleted: audit! eraseVersion!' }
const publishes = 'published: notify! audit! list>agent_catalog'

const draft: Row = {
  ...deletes,
  tested: 'draft: audit!',
  submit: 'in_review: notify! audit!',
  publish: publishes,
}

/** Events that are not listed are refused: exactly these transitions, no others. */
const table: Record<keyof typeof places, Row> = {
  'a draft': draft,
  'a draft that was tested': draft,
  'a draft after a rejection': draft,
  'in review': {
    ...deletes,
    tested: 'in_review: audit!',
    approve: publishes,
    reject: 'draft: audit! notify!',
    publish: publishes,
  },
  published: {
    ...deletes,
    tested: 'published: audit!',
    deprecate: 'deprecated: notify! audit! unlist>agent_catalog',
    retire: 'retired: notify! audit! unlist>agent_catalog',
  },
  deprecated: { ...deletes, tested: 'deprecated: audit!', retire: 'retired: notify! audit!' },
  retired: { ...deletes, tested: 'retired: audit!' },
  'retired after a deprecation': { ...deletes, tested: 'retired: audit!' },
  deleted: {},
}

it('covers every state of a version', () => {
  const resting = new Set(Object.values(places).map((place) => pathOf(place.value)))
  expect([...resting].sort()).toEqual([...restingStates(machine)].sort())
})

it('covers every event of the machine', () => {
  expect([...new Set(Object.values(events).map((event) => event.type))].sort()).toEqual([...machine.events].sort())
})

describe.each(Object.entries(places))('a version that is %s', (place, snapshot) => {
  const row: Readonly<Record<string, string>> = Object.entries(table).find(([name]) => name === place)?.[1] ?? {}
  const otherwise = place === 'deleted' ? 'ignored' : 'refused invalid_transition'
  it.each(Object.entries(events))('handles %s according to the table', (name, event) => {
    expect(outcomeOf(machine, snapshot, event)).toBe(row[name] ?? otherwise)
  })
})

const paramsAfter = (snapshot: ReturnType<typeof fresh>, event: StoredEvent, type: string): unknown =>
  transition(machine, snapshot, event)[1].find((action) => action.type === type)?.params

it('notifies webhooks of its new status, and records in the audit log who changed it', () => {
  expect(paramsAfter(version(submit), approve, 'notify')).toEqual({
    event_type: 'agent_version.published',
    data: { version_id: 'agv_1', agent_id: 'agt_1', version: '1.0.0', status: 'published' },
  })
  expect(paramsAfter(version(submit), reject, 'notify')).toMatchObject({
    event_type: 'agent_version.rejected',
    data: { status: 'draft', reason: 'Too chatty.' },
  })
  expect(paramsAfter(version(publish), retire, 'audit')).toEqual({
    lines: [{ action: 'agent_version.retired', by: { kind: 'secret_key', id: 'key_1' }, resource: 'agent_version' }],
  })
})

it('numbers its notices to the catalogue, so that the later one counts', () => {
  const words = [
    paramsAfter(fresh(), publish, 'send'),
    paramsAfter(version(publish), deprecate, 'send'),
    paramsAfter(version(publish), retire, 'send'),
  ]
  expect(words).toMatchObject([
    { messages: [{ to: 'agent_catalog', event: { type: 'list', listings: 1, published_at: 40 } }] },
    { messages: [{ to: 'agent_catalog', event: { type: 'unlist', listings: 2 } }] },
    { messages: [{ to: 'agent_catalog', event: { type: 'unlist', listings: 2 } }] },
  ])
})

it('keeps its manifest through all transitions', () => {
  const before = fresh().context
  const { config, requirements, visibility, version: text } = version(submit, reject, tested, publish, retire).context
  expect({ config, requirements, visibility, version: text }).toEqual({
    config: before.config,
    requirements: before.requirements,
    visibility: before.visibility,
    version: before.version,
  })
})

it('has a row until it is deleted', () => {
  const facts = { id: 'agv_1', project: 'prj_a', tenant: null, user: null, createdAt: 5, updatedAt: 1000 }
  const row = (state: ReturnType<typeof fresh>) => listRow(agentVersionDefinition, state, facts)
  expect(row(version(submit))).toMatchObject({ status: 'in_review', agent_status: 'agt_1 in_review' })
  expect(row(version(deletion))).toBeNull()
  expect(isGone(agentVersionDefinition, version(publish, retire))).toBe(false)
  expect(isGone(agentVersionDefinition, version(deletion))).toBe(true)
})
