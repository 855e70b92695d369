import { expect, it } from 'vitest'
import { MailboxFull, maxWaiting } from '#runtime/step/stepper.ts'
import { id, Worker, work } from './effects/effect-worker.ts'
import { logOf, openProbe } from './probe.ts'

it('takes a thousand deliveries, refuses more for now, and loses none that it took', async () => {
  const probe = await openProbe()
  await probe.create(id)
  const sent = Array.from({ length: maxWaiting + 50 }, (_, n) => probe.tell(id, { type: 'count', n }))
  const settled = await Promise.allSettled(sent)
  const refused = settled.filter((each) => each.status === 'rejected')
  // one is being worked on while the others wait
  expect(refused.length).toBe(49)
  expect(refused.every(({ reason }) => reason instanceof MailboxFull)).toBe(true)
  expect((await probe.find(id)).state.snapshot.context).toMatchObject({ count: maxWaiting + 1 })
  await probe.tell(id, { type: 'count' })
  expect((await probe.find(id)).state.snapshot.context).toMatchObject({ count: maxWaiting + 2 })
})

it('takes the result of an effect however many deliveries wait', async () => {
  const worker = new Worker()
  const probe = await openProbe({ work: worker.run })
  await probe.create(id)
  await probe.tell(id, work('idempotent'))
  const sent = Array.from({ length: maxWaiting + 1 }, () => probe.tell(id, { type: 'count' }))
  const done = probe.tell(id, { type: 'worked', output: 'fine' }, { done: `${id}:2:0`, cause: 'done' })
  await Promise.all([...sent, done])
  expect((await logOf(probe.storage, id)).at(-1)?.payload).toEqual({ output: 'fine' })
})
