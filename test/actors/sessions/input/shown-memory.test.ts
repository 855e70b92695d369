import { expect, it } from 'vitest'
import { ShownMemory } from '#actors/sessions/input/shown-memory.ts'
import { AnswerMemory } from '#outgoing/answer-memory.ts'

const running = new AbortController().signal

const open = () => {
  const memory = new ShownMemory(new AnswerMemory(1200))
  const done: string[] = []
  const call = (project: string, bytes: number, signal = running) => {
    const gate = Promise.withResolvers<void>()
    const ended = memory.holding({ project, bytes, signal }, async () => {
      done.push(project)
      await gate.promise
    })
    return { end: gate.resolve, ended }
  }
  return { call, done }
}

it('lets a call wait until the images of others leave room for its own, and one alone have any', async () => {
  const { call, done } = open()
  const [first, second] = [call('a', 1000), call('b', 300)]
  await Promise.resolve()
  expect(done).toEqual(['a'])
  first.end()
  await first.ended
  await expect.poll(() => done).toEqual(['a', 'b'])
  second.end()
  await second.ended
})

it('leaves room to other projects, and gives up a call that is cancelled while it waits', async () => {
  const { call, done } = open()
  const cancelled = new AbortController()
  const [one, other, third] = [call('a', 200), call('a', 200, cancelled.signal), call('b', 100)]
  await Promise.resolve()
  expect(done).toEqual(['a', 'b'])
  cancelled.abort(new Error('cancelled'))
  await expect(other.ended).rejects.toThrow('cancelled')
  for (const each of [one, third]) {
    each.end()
    await each.ended
  }
  const next = call('a', 200)
  expect(done).toEqual(['a', 'b', 'a'])
  next.end()
  await next.ended
})

it('lets no call overtake one of a project without memory, until that is cancelled, nor an earlier one of its project', async () => {
  const { call, done } = open()
  const cancelled = new AbortController()
  const held = [call('a', 130), call('a', 130)]
  const [large, small] = [call('b', 200), call('a', 40)]
  expect(done).toEqual(['a', 'a'])
  held[0]?.end()
  await held[0]?.ended
  await expect.poll(() => done).toEqual(['a', 'a', 'b', 'a'])
  const [third, later] = [call('c', 100, cancelled.signal), call('a', 10)]
  expect(done).toHaveLength(4)
  cancelled.abort(new Error('cancelled'))
  await expect(third.ended).rejects.toThrow('cancelled')
  await expect.poll(() => done).toEqual(['a', 'a', 'b', 'a', 'a'])
  const [wide, narrow] = [call('a', 250), call('a', 10)]
  await Promise.resolve()
  expect(done).toHaveLength(5)
  for (const each of [held[1], large, small, later]) {
    each?.end()
    await each?.ended
  }
  await expect.poll(() => done).toHaveLength(7)
  for (const each of [wide, narrow]) {
    each.end()
    await each.ended
  }
  await expect(call('a', 1, cancelled.signal).ended).rejects.toThrow('cancelled')
})
