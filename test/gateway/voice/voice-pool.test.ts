import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Admission, openAdmission } from '#gateway/call/admission.ts'
import { KeyWindows } from '#gateway/limits/key-windows.ts'
import { LocalLimits } from '#storage/local-limits.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { answers, refuses, sends } from './audio-upstream.ts'
import { openVoiceWorld, type VoiceWorld } from './voice-world.ts'

let world: VoiceWorld

beforeEach(async () => {
  world = await openVoiceWorld()
})
afterEach(() => world.close())

const used = () => world.upstream.heard.map(({ headers }) => headers.authorization)
const speech = { model: 'openai/tts-1', input: 'Hello', voice: 'alloy' } as const
const pooled = (strategy: 'priority' | 'weighted') =>
  world.keys({ openai: ['byok', 'byok'] }, { strategy, sticky: false })
const limited = refuses(429, {}, { 'retry-after': '5' })

it('speech whose key is rate limited goes to another key of its pool at once, and says so', async () => {
  pooled('priority')
  world.upstream.script(limited, sends('audio', 'audio/mpeg'))
  const { headers } = await world.speak(speech)
  expect(used()).toEqual(['Bearer byok-key-0', 'Bearer byok-key-1'])
  expect(new Map(headers).get('x-route')).toBe('priority;try=2;of=2;after=provider_rate_limited')
})

it('a key of a pool that is rate limited for speech rests, and is used again afterwards', async () => {
  pooled('priority')
  world.upstream.script(limited, sends('audio', 'audio/mpeg'))
  await world.speak(speech)
  world.upstream.script(sends('audio', 'audio/mpeg'))
  await world.speak(speech)
  world.later(5_000)
  await world.speak(speech)
  expect(used()).toEqual(['Bearer byok-key-1', 'Bearer byok-key-0'])
})

it('speech passes over a key at its limit of requests, and is refused when every key is at its own', async () => {
  await world.close()
  const clock = new VirtualClock()
  const keys = new KeyWindows(new LocalLimits(clock), clock)
  const admission: Admission = { ...openAdmission, admitKey: (request) => keys.admit(request) }
  world = await openVoiceWorld({ admission })
  const keyLimits = { requestsPerMinute: 1, tokensPerMinute: null }
  world.keys({ openai: ['byok', 'byok'] }, { strategy: 'priority', sticky: false }, keyLimits)
  world.upstream.script(sends('audio', 'audio/mpeg'))
  await world.speak(speech)
  const { headers } = await world.speak(speech)
  expect(new Map(headers).get('x-route')).toBe('priority;try=2;of=2;after=key_limit')
  await expect(world.speak(speech)).rejects.toMatchObject({
    ...{ code: 'rate_limit_exceeded', details: { retryAfterS: 60 } },
  })
  expect(used()).toEqual(['Bearer byok-key-0', 'Bearer byok-key-1'])
})

it('transcriptions are spread over the keys of a pool by its policy', async () => {
  pooled('weighted')
  world.upstream.script(answers({ text: 'Hello' }))
  for (let call = 0; call < 40; call++) await world.transcribe({ model: 'openai/whisper-1' })
  expect(new Set(used()).size).toBe(2)
})
