import { readConfig } from '#src/config.ts'

/** Names of all environment variables that the configuration reads. */
export const configuredNames = (): readonly string[] => {
  const seen = new Set<string>()
  const env = new Proxy<Record<string, string>>(
    {},
    {
      // prices are read of providers that have a key
      get: (_, name) => {
        seen.add(String(name))
        if (String(name).endsWith('_BASE_URL')) return 'https://provider.example/v1'
        return String(name).endsWith('_API_KEY') ? 'key' : undefined
      },
    },
  )
  readConfig(env)
  return [...seen]
}
