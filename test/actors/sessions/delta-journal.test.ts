import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DeltaJournal } from '#actors/sessions/delta-journal.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'

/** A journal whose writes a test can hold back. */
const open = () => {
  const clock = new VirtualClock()
  const written: { text: string; at: number }[] = []
  const ends: (() => void)[] = []
  let slow = false
  const journal = new DeltaJournal((text) => {
    written.push({ text, at: clock.now() })
    return slow ? new Promise((resolve) => ends.push(resolve)) : Promise.resolve()
  }, clock)
  return {
    clock,
    journal,
    written,
    texts: () => written.map(({ text }) => text),
    hold: () => {
      slow = true
    },
    release: async () => {
      slow = false
      for (const end of ends.splice(0)) end()
      await calm()
    },
  }
}

it('writes the first delta at once, together with those that arrive with it', async () => {
  const { journal, texts } = open()
  journal.add('a')
  journal.add('b')
  await calm()
  expect(texts()).toEqual(['ab'])
})

it('joins deltas that arrive within 25 ms into one write', async () => {
  const { journal, clock, texts } = open()
  journal.add('a')
  await calm()
  journal.add('b')
  await clock.advance(10)
  journal.add('c')
  await clock.advance(14)
  expect(texts()).toEqual(['a'])
  await clock.advance(1)
  expect(texts()).toEqual(['a', 'bc'])
})

it('does not wait once 32 deltas have arrived', async () => {
  const { journal, texts } = open()
  journal.add('a')
  await calm()
  for (let n = 0; n < 32; n++) journal.add('x')
  await calm()
  expect(texts()).toEqual(['a', 'x'.repeat(32)])
})

it('never has two concurrent writes', async () => {
  const { journal, clock, texts, hold, release } = open()
  hold()
  journal.add('a')
  await calm()
  for (let n = 0; n < 100; n++) journal.add('x')
  await clock.advance(1000)
  expect(texts()).toEqual(['a'])
  await release()
  expect(texts()).toEqual(['a', 'x'.repeat(100)])
})

it('returns the unwritten text at its end, after the write in progress, and writes nothing more', async () => {
  const { journal, clock, texts, hold, release } = open()
  hold()
  journal.add('a')
  await calm()
  journal.add('b')
  const end = journal.end()
  await clock.advance(1000)
  expect(await Promise.race([end, 'waiting'])).toBe('waiting')
  await release()
  expect(await end).toBe('b')
  await clock.advance(1000)
  expect(texts()).toEqual(['a'])
})

it('neither loses, repeats nor reorders deltas, whatever the timing and speed of writes', async () => {
  const moment = fc.oneof(
    fc.record({ add: fc.string({ minLength: 1, maxLength: 3 }) }),
    fc.record({ wait: fc.nat(40) }),
    fc.constantFrom('hold', 'release', 'calm'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { maxLength: 60 }), async (moments) => {
      const { journal, clock, texts, hold, release } = open()
      let said = ''
      for (const each of moments) {
        if (each === 'hold') hold()
        else if (each === 'release') await release()
        else if (typeof each === 'string') await calm()
        else if ('wait' in each) await clock.advance(each.wait)
        else {
          said += each.add
          journal.add(each.add)
        }
        expect(said.startsWith(texts().join(''))).toBe(true)
      }
      const end = journal.end()
      await release()
      expect(texts().join('') + (await end)).toBe(said)
    }),
    { numRuns: 60 },
  )
})

it('delays no delta when the wall clock is set back', async () => {
  const { clock, journal, texts } = open()
  journal.add('a')
  await calm()
  clock.set(-7000)
  journal.add('b')
  await clock.advance(25)
  expect(texts()).toEqual(['a', 'b'])
})
