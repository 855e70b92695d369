import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BodyPace } from '#transport/http/body-pace.ts'
import { UnfinishedMessage } from '#transport/http/node/unfinished-message.ts'

describe('the minimum rate of a message', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const watched = () => {
    const given: string[] = []
    const pace = new BodyPace({ graceMs: 1_000, bytesPerS: 1_000, pollMs: 100 })
    return { given, message: new UnfinishedMessage(pace, () => void given.push('up')) }
  }

  it('does not apply between messages', () => {
    const { given, message } = watched()
    message.arrived(10, true)
    message.arrived(10, false)
    vi.advanceTimersByTime(60_000)
    expect(given).toEqual([])
  })

  it('applies to each message from its own beginning', () => {
    const { given, message } = watched()
    for (let at = 0; at < 10; at++) {
      message.arrived(100, true)
      vi.advanceTimersByTime(900)
      message.arrived(100, false)
    }
    message.arrived(100, true)
    vi.advanceTimersByTime(1_000)
    expect(given).toEqual([])
    vi.advanceTimersByTime(300)
    expect(given).toEqual(['up'])
  })
})
