import { expect, it } from 'vitest'
import { VoiceLimit } from '#gateway/voice/voice-limit.ts'
import { LocalLimits } from '#storage/local-limits.ts'

it.each([0, 1, 500, 999])(
  'a voice request over the limit has a retry delay of one minute (%i ms into a second)',
  async (ms) => {
    const voice = new VoiceLimit(new LocalLimits({ steady: () => 1_700_000_000_000 + ms }))
    for (let n = 0; n < 60; n++) await voice.take('prj_1')
    await expect(voice.take('prj_1')).rejects.toMatchObject({ details: { retryAfterS: 60 } })
  },
)
