import { expect, it } from 'vitest'
import { ConfigError, readConfig } from '../src/config.ts'

const limits = (text: string) => ({ OPENAI_API_KEY: 'sk-1', OPENAI_LIMITS: text })

it('what the key of a provider may be used for in a minute is read, and refused where it is no limit', () => {
  const both = readConfig(limits('requests_per_minute=500, tokens_per_minute=200000'))
  expect(both.providers.openai?.limits).toEqual({ requests_per_minute: 500, tokens_per_minute: 200_000 })
  expect(readConfig(limits('tokens_per_minute=1')).providers.openai?.limits).toEqual({ tokens_per_minute: 1 })
  for (const text of ['requests_per_minute=0', 'requests_per_minute=-1', 'tokens_per_minute=1e9', 'rpm=5', '500'])
    expect(() => readConfig(limits(text)), text).toThrow(ConfigError)
})
