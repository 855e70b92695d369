import { readConfig } from '#src/config.ts'

/** Names of all environment variables that the configuration reads. */
export const configuredNames = (): readonly string[] => {
  const seen = new Set<string>()
  const env = new Proxy<Record<string, string>>(
    { OPENAI_API_KEY: 'key', OPENAI_PRICES: 'call_usd=1' },
    {
      get: (target, name) => {
        seen.add(String(name))
        return target[String(name)]
      },
    },
  )
  readConfig(env)
  return [...seen]
}
