import { describe, expect, it } from 'vitest'
import { InputQueue, type PageInput } from '#actors/browser/engine/live/input-queue.ts'
import { liveInput } from '#specs/resources/web/browse-limits.ts'

const text = (said: string): PageInput => ({ type: 'text', text: said })
const move = (x: number): PageInput => ({ type: 'mouseMove', x, y: 1 })

/** A page that accepts inputs, at once or when `let` is called. */
const opened = (takes = true) => {
  const done: PageInput[] = []
  const gate = Promise.withResolvers<void>()
  if (takes) gate.resolve()
  const clock = { ms: 0 }
  const act = async (input: PageInput): Promise<void> => {
    done.push(input)
    await gate.promise
  }
  return { done, clock, let: gate.resolve, queue: new InputQueue(act, () => clock.ms) }
}

describe('the input of a person on a page', () => {
  it('is applied in order, and once even if it is sent twice', async () => {
    const { done, queue } = opened()
    queue.take('a', [text('1'), text('2')])
    queue.take('a', [text('1'), text('2')])
    queue.take('b', [text('3')])
    await queue.close(1_000)
    expect(done.map((input) => input.text)).toEqual(['1', '2', '3'])
  })

  it('skips mouse moves that later ones replace', async () => {
    const page = opened(false)
    page.queue.take('a', [move(1), move(2), move(3), text('x'), move(4)])
    page.let()
    await page.queue.close(1_000)
    expect(page.done.map(({ x, type }) => x ?? type)).toEqual([3, 'text', 4])
  })

  it('is ignored once the job has its page back', async () => {
    const { done, queue } = opened()
    await queue.close(0)
    queue.take('a', [text('late')])
    expect([done, queue.size]).toEqual([[], 0])
  })

  it('is dropped at the end if the page accepts nothing', async () => {
    const { done, queue } = opened(false)
    queue.take('a', [text('1'), text('2')])
    await queue.close(1)
    expect([done.length, queue.size]).toEqual([1, 0])
  })

  it('is refused if too many inputs come per second, or too many inputs or characters wait', () => {
    const { clock, queue } = opened()
    const many = Array.from({ length: 100 }, () => text('x'))
    for (let n = 0; n < 4; n++) queue.take(`a${n}`, many)
    expect(() => queue.take('b', [text('x'), ...many])).toThrow('Too many requests')
    clock.ms += 1_000
    expect(() => queue.take('c', many)).toThrow('Too many requests')
    const long = opened(false)
    long.queue.take('a', [text('x')])
    const lines = Array.from({ length: 10 }, () => text('y'.repeat(liveInput.maxText)))
    long.queue.take('b', lines)
    expect(() => long.queue.take('c', [text('z')])).toThrow('Too many requests')
  })
})
