import { describe, expect, it } from 'vitest'
import { Latencies } from '#gateway/voice/latencies.ts'
import type { JsonObject } from '#storage/ports.ts'

/** Hints between nodes without a network: every listener receives every hint, also the node that sent it. */
const openHints = () => {
  const listeners: ((data: JsonObject) => void)[] = []
  return {
    announce: (_topic: string, data: JsonObject): void => {
      for (const listener of listeners) listener(JSON.parse(JSON.stringify(data)))
    },
    subscribe: (_topic: string, listener: (data: JsonObject) => void): void => void listeners.push(listener),
  }
}

describe('the latencies until the first byte', () => {
  it('are weighted averages that favour the newest, and expire', () => {
    const clock = { now: 0 }
    const latencies = new Latencies(() => clock.now)
    expect(latencies.of('prj_1', 'openai/tts-1')).toBeNull()
    latencies.note('prj_1', 'openai/tts-1', 1000)
    latencies.note('prj_1', 'openai/tts-1', 2000)
    expect(latencies.of('prj_1', 'openai/tts-1')).toBeCloseTo(1300)
    expect(latencies.of('prj_2', 'openai/tts-1')).toBeNull()
    clock.now = 15 * 60_000 + 1
    expect(latencies.of('prj_1', 'openai/tts-1')).toBeNull()
  })

  it('are shared by all nodes, and count once on each', () => {
    const hints = openHints()
    const [one, other] = [new Latencies(() => 0, hints), new Latencies(() => 0, hints)]
    one.note('prj_1', 'openai/tts-1', 1000)
    one.note('prj_1', 'openai/tts-1', 2000)
    other.note('prj_1', 'openai/tts-1', 3000)
    expect(one.of('prj_1', 'openai/tts-1')).toBeCloseTo(1810)
    expect(other.of('prj_1', 'openai/tts-1')).toBeCloseTo(1810)
  })

  it.each([
    {},
    { project: 'prj_1', model: 'openai/tts-1', ms: -1 },
    { project: 'prj_1', model: 'openai/tts-1', ms: 'soon' },
    { project: 7, model: 'openai/tts-1', ms: 1 },
  ])('ignore the invalid hint %j', (hint) => {
    const hints = openHints()
    const latencies = new Latencies(() => 0, hints)
    hints.announce('voice-latency', hint)
    expect(latencies.of('prj_1', 'openai/tts-1')).toBeNull()
  })
})
