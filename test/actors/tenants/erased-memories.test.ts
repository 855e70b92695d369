import { pino } from 'pino'
import { expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import { graphIn } from '#actors/memory/indexes/memory-graph.ts'
import { erasureEffects } from '#actors/tenants/erasure.ts'
import { OwnerEraser } from '#actors/tenants/owner-eraser.ts'
import { ProjectEraser } from '#actors/tenants/project-eraser.ts'
import type { EffectContext } from '#runtime/effects/effects.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { LocalAnswers } from '#storage/local-answers.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { plainMemory } from '../memory/scripted-memory.ts'

const ada = { project: 'prj_a', tenant: 'ten_a', user: 'ada' }
const others = [
  { ...ada, user: 'bob' },
  { ...ada, tenant: 'ten_b' },
  { ...ada, project: 'prj_b' },
]

it.each([
  ['a user', { tenant_id: 'ten_a', user: 'ada' }, 0],
  ['a tenant', { tenant_id: 'ten_a', user: null }, 1],
  ['a project', { project_id: 'prj_a' }, 2],
])('a process keeps nothing in memory of what the erasure of %s removed', async (_, erased, more) => {
  const clock = new VirtualClock()
  const storage = openMemoryStorage({ now: clock.now })
  await storage.records.prepare(kinds)
  const log = pino({ level: 'silent' })
  const host = {
    ...{ deliver: () => Promise.reject(new ServiceError('not_found')), drop: () => {} },
    rows: { shown: async () => {} },
  }
  const memory = plainMemory({ storage, records: storage.records, host: Object(host), clock, log })
  const item = {
    content: 'I live in Oslo.',
    place: { scope: 'user', session: null, namespace: null },
    facts: [
      {
        ...{
          subject: 'user',
          relation: 'lives_in',
          object: 'Oslo',
          single: true,
          ended: false,
          text: 'I live in Oslo.',
        },
        ...{ valid_from_ms: 0, valid_to_ms: null, observed_at_ms: 0 },
      },
    ],
  } as const
  const write = async (owner: typeof ada) => {
    const { memories } = await memory.writer.write(owner, [item], { source: 'write', seed: null })
    return memories[0]?.duplicate
  }
  const entities = async (owner: typeof ada) => (await graphIn(await memory.indexes.open(owner))).graph.entities()
  for (const owner of [ada, ...others]) expect(await write(owner)).toBe(false)
  const parts = { storage, host, clock, kinds, actorRows: [] }
  const effects = erasureEffects({
    ...{ storage, clock, log, answers: new LocalAnswers(clock), owned: new OwnerEraser(parts) },
    ...{ projects: new ProjectEraser(parts), dropped: async (owner) => memory.indexes.dropErased(owner) },
  })
  const context: EffectContext = {
    ...{ actor: 'era_1', owner: { project: 'prj_a', tenant: null, user: null, createdAt: 0 }, context: erased },
    ...{ idempotencyKey: 'key', signal: new AbortController().signal, part: async () => {}, show: () => {} },
    ...{ aloneAt: 0, delivered: async () => {} },
  }
  await effects['erasure.eraseOwned']?.run({ round: 1 }, context)
  const gone = [ada, ...others.slice(0, more)]
  for (const owner of gone) expect(await entities(owner)).toEqual([])
  for (const owner of gone) expect(await write(owner)).toBe(false)
  for (const owner of others.slice(more)) expect(await write(owner)).toBe(true)
})
