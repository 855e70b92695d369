import { type Config, ConfigError, readConfig } from '#src/config.ts'
import { misspeltIn } from '#src/misspelt-variables.ts'
import { type Finding, failed, ok, warning } from './finding.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the configuration, with invalid variables treated as not set, and the findings about it. */
export const checkConfiguration = (
  env: Environment,
): { readonly config: Config; readonly findings: readonly Finding[] } => {
  try {
    const config = readConfig(env)
    const usable = ok('configuration', 'all variables are valid')
    return { config, findings: [usable, ...misspeltFound(env), ...proxiesFound(config)] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const bad = error.problems.map((problem) => problem.split(' ')[0] ?? '')
    const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !bad.includes(name)))
    return { config: readConfig(rest), findings: error.problems.map(problemFound) }
  }
}

const misspeltFound = (env: Environment): readonly Finding[] =>
  misspeltIn(env).map(({ name, meant }) => {
    const says = `${name} is set, but no variable has this name`
    return warning(
      'configuration',
      says,
      `Did you mean ${meant}? The section "Configuration" of docs/operating.md lists all variables.`,
    )
  })

/** The server itself speaks only http, so an https URL implies a proxy. */
const proxiesFound = ({ publicUrl, trustedProxies }: Config): readonly Finding[] => {
  if (trustedProxies !== null || publicUrl?.startsWith('https:') !== true) return []
  const says = 'PUBLIC_URL is https, so there is a proxy, and all clients appear with its address'
  const advice =
    'Set TRUSTED_PROXIES to its address or network, or to the number of proxies: failed logins are counted per client address.'
  return [warning('proxies', says, advice)]
}

const problemFound = (problem: string): Finding =>
  failed('configuration', problem, 'Correct it: the server does not start. See docs/operating.md, "Configuration".')
