import { describe, expect, it } from 'vitest'
import { requireUsable } from '#gateway/guardrails/guardrails.ts'
import type { GuardCheck } from '#specs/resources/gateway/guardrails.ts'

const regex = (patterns: readonly string[]): GuardCheck => ({ type: 'regex', patterns, on: 'both', action: 'block' })
const words: GuardCheck = {
  ...{ type: 'words', on: 'both', action: 'block' },
  words: Array.from({ length: 2_000 }, (_, at) => `${'é'.repeat(120)}${at}`),
}

/** Longest time in ms that this thread worked without a turn of its loop. */
const longestHold = async (work: Promise<void>): Promise<number> => {
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let [longest, last, isOver] = [0, usedMs(), false]
  const beat = (): void => {
    const now = usedMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(beat)
  }
  beat()
  await work
  isOver = true
  return longest
}

describe('the checks of a guardrail', () => {
  it('of the largest size are prepared without holding the event loop', async () => {
    const large = regex(['(x+)'.repeat(124), '(y+)'.repeat(124)])
    await requireUsable([large])
    const checks = Array.from({ length: 16 }, (_, at) => (at % 2 === 0 ? large : words))
    expect(await longestHold(requireUsable(checks))).toBeLessThan(50)
  })

  it('are refused before their patterns are compiled that have more Unicode classes than are soon compiled', async () => {
    const checks = Array.from({ length: 16 }, () => regex(Array.from({ length: 32 }, () => '\\PL'.repeat(170))))
    const before = process.threadCpuUsage()
    await expect(requireUsable(checks)).rejects.toMatchObject({ code: 'invalid_field', details: { param: 'checks' } })
    expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(100)
    await requireUsable([regex(['\\pL'.repeat(100)])])
  })
})
