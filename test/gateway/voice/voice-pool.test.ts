import { afterEach, beforeEach, expect, it } from 'vitest'
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

it('transcriptions are spread over the keys of a pool by its policy', async () => {
  pooled('weighted')
  world.upstream.script(answers({ text: 'Hello' }))
  for (let call = 0; call < 40; call++) await world.transcribe({ model: 'openai/whisper-1' })
  expect(new Set(used()).size).toBe(2)
})
