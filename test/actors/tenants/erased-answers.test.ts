import { pino } from 'pino'
import { expect, it } from 'vitest'
import { erasureEffects } from '#actors/tenants/erasure.ts'
import type { EffectContext } from '#runtime/effects/effects.ts'
import { type AnswerPlace, answerLane } from '#storage/answer-store.ts'
import { LocalAnswers } from '#storage/local-answers.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const places: Readonly<Record<string, AnswerPlace>> = {
  tenant: { project: 'prj_a', lane: answerLane('ten_a') },
  user: { project: 'prj_a', lane: answerLane('ten_a', 'ann') },
  project: { project: 'prj_a', lane: answerLane(null) },
  other: { project: 'prj_b', lane: answerLane('ten_a') },
}

it.each([
  ['a tenant', { tenant_id: 'ten_a', user: null }, ['other', 'project']],
  ['a user', { tenant_id: 'ten_a', user: 'ann' }, ['other', 'project']],
  ['a project', { project_id: 'prj_a' }, ['other']],
])('the erasure of %s deletes its stored answers of models', async (_, erased, left) => {
  const clock = new VirtualClock()
  const answers = new LocalAnswers(clock)
  for (const place of Object.values(places)) await answers.put(place, 'key', { text: 'x', ttlMs: 60_000, mark: 0 })
  const effects = erasureEffects({
    ...{ storage: openMemoryStorage({ now: clock.now }), clock, log: pino({ level: 'silent' }), answers },
    ...{ owned: { erase: async () => ({}) }, projects: { erase: async () => ({}) }, dropped: async () => {} },
  })
  const context: EffectContext = {
    ...{ actor: 'era_1', owner: { project: 'prj_a', tenant: null, user: null, createdAt: 0 }, context: erased },
    ...{ idempotencyKey: 'key', signal: new AbortController().signal, part: async () => {}, show: () => {} },
    ...{ aloneAt: 0, delivered: async () => {} },
  }
  await effects['erasure.eraseOwned']?.run({ round: 1 }, context)
  const kept = Object.entries(places).filter(([, place]) => answers.read(place, ['key']).values[0] !== null)
  expect(kept.map(([name]) => name).toSorted()).toEqual(left)
})
